import { adapterSuite } from '@actlog/adapter-suite';
import { exporterHarness, hooksHarness, processHarness, toolsHarness } from './harness.ts';

adapterSuite(hooksHarness);
adapterSuite(processHarness);
adapterSuite(exporterHarness);
adapterSuite(toolsHarness);
