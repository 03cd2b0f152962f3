"""Run a web application on a free port, in a thread of the test."""

import socket
import threading
import time
from contextlib import contextmanager

import uvicorn


@contextmanager
def served(app):
    """Serve an application; yield its address."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        while not server.started:
            time.sleep(0.01)
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()
