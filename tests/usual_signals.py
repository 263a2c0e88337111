"""Signals that whoever started the tests ignores: everything started below would ignore them."""

import signal


def restore_signals() -> None:
    """Let signals have their usual effect again: background jobs and nohup ignore some."""
    for name in ("SIGHUP", "SIGINT", "SIGQUIT"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_IGN:
            usual = signal.default_int_handler if name == "SIGINT" else signal.SIG_DFL
            signal.signal(number, usual)
