import { adapterSuite } from '@actlog/adapter-suite';
import { answersHarness, middlewareHarness, toolRunnerHarness } from './harness.ts';

adapterSuite(toolRunnerHarness);
adapterSuite(answersHarness);
adapterSuite(middlewareHarness);
