"""Run a web application on a free port, in a thread of the test."""

import threading
from contextlib import contextmanager

from imboost.web.server import address_of, listen, make_server


@contextmanager
def served(app, **settings):
    """Serve an application; yield its address."""
    with listen("127.0.0.1", 0) as listener:
        server = make_server(app, **settings)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield address_of(listener)
        finally:
            server.should_exit = True
            thread.join()
