import { adapterSuite } from '@actlog/adapter-suite';
import { exporterHarness, hooksHarness } from './harness.ts';

adapterSuite(hooksHarness);
adapterSuite(exporterHarness);
