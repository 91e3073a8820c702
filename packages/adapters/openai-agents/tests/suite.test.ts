import { adapterSuite } from '@actlog/adapter-suite';
import { agentsHarness } from './harness.ts';

adapterSuite(agentsHarness('agent', 'actlog(agent)'));
adapterSuite(agentsHarness('runner', 'actlog(runner)'));
adapterSuite(agentsHarness('process', 'actlog()'));
