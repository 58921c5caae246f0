"""Counts the words of the standard library in as many threads as the first argument says."""

import collections, concurrent.futures, glob, hashlib, os, re, sys, sysconfig
def count(path):
    text = open(path, encoding="utf-8", errors="replace").read()
    words = collections.Counter(re.findall(r"[A-Za-z_]+", text))
    return words, hashlib.sha256(text.encode()).hexdigest()
def main():
    paths = sorted(glob.glob(os.path.join(sysconfig.get_path("stdlib"), "*.py")))
    total = collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(int(sys.argv[1])) as pool:
        for words, _ in pool.map(count, paths):
            total.update(words)
    print(len(paths), total.most_common(3))
main()
