import { adapterSuite } from '@actlog/adapter-suite';
import { opencodeHarness } from './harness.ts';

adapterSuite(opencodeHarness);
