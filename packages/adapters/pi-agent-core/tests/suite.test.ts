import { adapterSuite } from '@actlog/adapter-suite';
import { formerPiHarness, piHarness } from './harness.ts';

adapterSuite(piHarness);
adapterSuite(formerPiHarness);
