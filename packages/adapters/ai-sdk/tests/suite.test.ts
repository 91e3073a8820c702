import { adapterSuite } from '@actlog/adapter-suite';
import * as ai from 'ai';
import { telemetryHarness, toolsHarness } from './harness.ts';

adapterSuite(toolsHarness);
// `ai` 6 has no telemetry that could see a tool.
if ('registerTelemetry' in ai) adapterSuite(telemetryHarness, 'telemetry');
