import { adapterSuite } from '@actlog/adapter-suite';
import { genkitHarness, processHarness } from './harness.ts';

adapterSuite(genkitHarness);
adapterSuite(processHarness);
