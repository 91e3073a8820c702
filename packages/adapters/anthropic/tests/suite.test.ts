import { adapterSuite } from '@actlog/adapter-suite';
import { callRunnerHarness, middlewareHarness, runnerToolsHarness, toolRunnerHarness } from './harness.ts';

adapterSuite(toolRunnerHarness);
adapterSuite(runnerToolsHarness);
adapterSuite(callRunnerHarness);
adapterSuite(middlewareHarness);
