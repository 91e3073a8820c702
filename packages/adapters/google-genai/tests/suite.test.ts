import { adapterSuite } from '@actlog/adapter-suite';
import { callRunnerHarness, chatHarness, generateHarness } from './harness.ts';

adapterSuite(generateHarness);
adapterSuite(chatHarness);
adapterSuite(callRunnerHarness);
