import { adapterSuite } from '@actlog/adapter-suite';
import { genkitHarness } from './harness.ts';

adapterSuite(genkitHarness);
