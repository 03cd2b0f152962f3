"""The foundation of the REST service and the labelling page: one server, one set of checks.

`server` runs an application, `guard` checks every request, `access` decides who may come in.
"""
