import { adapterSuite } from '@actlog/adapter-suite';
import { strandsHarness } from './harness.ts';

adapterSuite(strandsHarness);
