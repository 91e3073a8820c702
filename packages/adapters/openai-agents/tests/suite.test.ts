import { adapterSuite } from '@actlog/adapter-suite';
import { agentHarness, processHarness, runnerHarness } from './harness.ts';

adapterSuite(agentHarness);
adapterSuite(runnerHarness);
adapterSuite(processHarness);
