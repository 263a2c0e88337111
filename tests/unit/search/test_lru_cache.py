"""The cache evicts the least recently used entries."""

from kbx_tui.search.lru_cache import LruCache


def test_least_recently_used_is_evicted_first() -> None:
    cache: LruCache[str, int] = LruCache(2)
    cache.put("a", 1)
    cache.put("b", 2)
    assert cache.get("a") == 1
    cache.put("c", 3)
    assert (cache.get("a"), cache.get("b"), cache.get("c"), len(cache)) == (1, None, 3, 2)
