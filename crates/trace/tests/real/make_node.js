let n=0; function t(){ if(++n<12) setTimeout(t,1); else Promise.resolve().then(()=>{}); } t();
