import { adapterSuite } from '@actlog/adapter-suite';
import { chatRunnerHarness, responsesRunnerHarness, runToolsHarness } from './harness.ts';

adapterSuite(runToolsHarness);
adapterSuite(chatRunnerHarness);
adapterSuite(responsesRunnerHarness);
