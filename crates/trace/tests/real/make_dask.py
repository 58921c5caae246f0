from dask.distributed import Client, LocalCluster
import json, time
def inc(x): time.sleep(0.002); return x+1
def add(a,b): time.sleep(0.001); return a+b
if __name__=='__main__':
    with LocalCluster(n_workers=2, threads_per_worker=2, processes=False, dashboard_address=None) as c, Client(c) as cl:
        cl.get_task_stream()
        fs=cl.map(inc, range(24)); gs=cl.map(add, fs, fs[::-1]); cl.gather(gs)
        ts=cl.get_task_stream()
        comp=sum(s['stop']-s['start'] for r in ts for s in r['startstops'] if s['action']=='compute')
        n=sum(1 for r in ts for s in r['startstops'] if s['action']=='compute')
        print(n, comp, len({(r['worker'],r['thread']) for r in ts}), sum(len(r['startstops']) for r in ts))
        json.dump(list(ts), open('dask.json','w'), default=str)
