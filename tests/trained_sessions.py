"""Sessions on the same table whose first model is trained once for all tests of a process."""

from copy import copy

from imboost.session import Session
from imboost.session.log import start_of
from imboost.session.trainer import LocalTrainer

_TRAINED: dict[object, LocalTrainer] = {}


def reuse_training(session: Session) -> Session:
    """Give a session the model that an equal session was trained with before; return it."""
    started = start_of(list(session.log))
    key = (started.fingerprint, started.detector_seed, repr(session.detector))
    if key not in _TRAINED:
        assert isinstance(session.trainer, LocalTrainer)
        session.trainer.train([])
        _TRAINED[key] = session.trainer
    session.trainer = copy(_TRAINED[key])  # a training changes a copy of the model
    return session
