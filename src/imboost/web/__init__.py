"""What the REST service and the labelling page share: the server and the checks of requests."""
