import { adapterSuite } from '@actlog/adapter-suite';
import { bedrockHarness, mistralHarness, ollamaHarness } from './harness.ts';

for (const harness of [bedrockHarness, mistralHarness, ollamaHarness]) adapterSuite(harness);
