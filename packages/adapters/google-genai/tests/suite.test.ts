import { adapterSuite } from '@actlog/adapter-suite';
import { answersHarness, chatHarness, generateHarness } from './harness.ts';

adapterSuite(generateHarness);
adapterSuite(chatHarness);
adapterSuite(answersHarness);
