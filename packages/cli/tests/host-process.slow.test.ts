import { testHostProcess } from './host-process-tests.ts';

testHostProcess(
  ['node-22', 'node-24', 'node-26'].filter((name) => name !== `node-${process.versions.node.split('.')[0]}`),
);
