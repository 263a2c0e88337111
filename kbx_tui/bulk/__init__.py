"""Bulk indexing with Ray: the tasks of a build run in worker processes, here or on a cluster.

Ray comes with the extra `kbx-tui[ray]` and is imported only by a run of `kbx index --engine ray`.
"""
