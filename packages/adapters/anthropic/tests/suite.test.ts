import { adapterSuite } from '@actlog/adapter-suite';
import { callRunnerHarness, middlewareHarness, toolRunnerHarness } from './harness.ts';

adapterSuite(toolRunnerHarness);
adapterSuite(callRunnerHarness);
adapterSuite(middlewareHarness);
