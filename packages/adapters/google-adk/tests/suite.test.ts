import { adapterSuite } from '@actlog/adapter-suite';
import { googleAdkHarness, processHarness } from './harness.ts';

adapterSuite(googleAdkHarness);
adapterSuite(processHarness);
