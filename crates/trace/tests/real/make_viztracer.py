def leaf(n):
    return sum(range(n))
def branch(n):
    return leaf(n) + leaf(2 * n)
def main():
    for i in range(12): branch(50)
main()
