import { adapterSuite } from '@actlog/adapter-suite';
import { exporterHarness, hooksHarness, toolsHarness } from './harness.ts';

adapterSuite(hooksHarness);
adapterSuite(exporterHarness);
adapterSuite(toolsHarness);
