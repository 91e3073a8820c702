import { testHostProcess } from './host-process-tests.ts';

testHostProcess([`node-${process.versions.node.split('.')[0]}`]);
