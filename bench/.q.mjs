import {readRuns,classOf} from '/work/main/bench/risk/labelled-run.ts';
import {Replayer} from '/work/main/bench/risk/replay.ts';
import {quantile} from '/work/main/bench/risk/statistics.ts';
import {score} from '@actlog/risk';
const runs=readRuns('/work/shared/data/dev/agentdojo_dev.jsonl.gz').filter(r=>classOf(r));
for(const K of [0,3]){ const rp=new Replayer(runs,K);
 const R=runs.map(r=>rp.replay(r)).map(o=>({s:score(o.state,{baseline:o.baseline}).score,n:o.baseline.sessions.size,run:o.run}));
 for(const [nm,f] of [['all',()=>true],['slack',o=>o.run.suite==='slack'],['ws',o=>o.run.suite==='workspace']]){
  const x=R.filter(o=>f(o)&&(K===0||o.n>=3)); const g=c=>x.filter(o=>classOf(o.run)===c).map(o=>o.s);
  console.log(K,nm,g('benign').length,'benign q',[.8,.9,.95,.97,.98,.99,1].map(q=>q+':'+quantile(g('benign'),q)).join(' '),'attack q',[.1,.25,.5,.75].map(q=>quantile(g('attacked'),q)).join(' '));
 }
}
