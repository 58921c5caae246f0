"""Counts its own calls and times itself, while VizTracer watches:

    viztracer --ignore_c_function -o viztracer.json make_viztracer.py | grep -oE '^[{].*|Total Entries.*' > viztracer.totals.txt
    sed -i "s#$PWD/##g" viztracer.json         # names hold the folder of the program
"""

from time import perf_counter_ns

calls = {"leaf": 0, "branch": 0, "main": 0}
ns = {"branch": 0, "main": 0}


def leaf(n):
    calls["leaf"] += 1
    return sum(range(n))


def branch(n):
    calls["branch"] += 1
    began = perf_counter_ns()
    result = leaf(n) + leaf(2 * n)
    ns["branch"] += perf_counter_ns() - began
    return result


def main():
    calls["main"] += 1
    began = perf_counter_ns()
    for _ in range(12):
        branch(5000)
    ns["main"] += perf_counter_ns() - began


main()
print(str({"calls": calls, "ns": ns}).replace("'", '"'))  # JSON, without calls of Python functions
