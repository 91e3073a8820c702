import { adapterSuite } from '@actlog/adapter-suite';
import { mcpClientHarness, mcpServerHarness, otherMcpHarnesses } from './harness.ts';

adapterSuite(mcpClientHarness, 'MCP client of v2');
adapterSuite(mcpServerHarness, 'MCP server of v2');
for (const [title, harness] of Object.entries(otherMcpHarnesses)) adapterSuite(harness, title);
