import { adapterSuite } from '@actlog/adapter-suite';
import { chatAnswersHarness, responsesAnswersHarness, runToolsHarness } from './harness.ts';

adapterSuite(runToolsHarness);
adapterSuite(chatAnswersHarness);
adapterSuite(responsesAnswersHarness);
