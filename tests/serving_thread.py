"""Run a web application on a free port, in a thread of the test."""

import threading
from contextlib import contextmanager

from imboost.web.limits import ConnectionLimits
from imboost.web.server import Server, listen


@contextmanager
def served(app, limits=None):
    """Serve an application; yield its address."""
    is_ready, addresses = threading.Event(), []

    def on_ready(address):
        addresses.append(address)
        is_ready.set()

    with listen("127.0.0.1", 0) as listener:
        server = Server(app, limits or ConnectionLimits(), on_ready)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            assert is_ready.wait(30)
            yield addresses[0]
        finally:
            server.should_exit = True
            thread.join()
