"""Bulk indexing with Ray: worker processes, here or on a cluster, run the tasks of a build.

Ray comes with the extra `kbx-tui[ray]` and is imported only by a run of `kbx index --engine ray`.
"""
