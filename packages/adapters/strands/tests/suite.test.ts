import { adapterSuite } from '@actlog/adapter-suite';
import { processHarness, strandsHarness } from './harness.ts';

adapterSuite(strandsHarness);
adapterSuite(processHarness);
