import { expect, test } from 'vitest';
import { riskEvent } from './risk-event.ts';
import { sentenceOf } from './sentence.ts';
import { observe } from './session/observe.ts';
import { parseSession, serializeSession } from './session/session-codec.ts';
import { emptySession } from './session/session-state.ts';

/** Returns the sentence about calls, each a tool with a status after a space; 200 by default. */
function sentence(...calls: readonly string[]): string {
  const state = emptySession();
  const names: string[] = [];
  for (const [index, call] of calls.entries()) {
    const [toolName = '', status = '200'] = call.split(' ');
    names.push(toolName);
    const event = {
      eventId: `0000000${index}-0000-4000-8000-000000000000`,
      agentId: 'a',
      sessionId: 's',
      sourceTimestamp: new Date(Date.UTC(2026, 0, 1) + index * 1000).toISOString(),
      category: 'tool_api',
      schemaVersion: '1.0',
      payload: { toolName, argumentsHash: `sha256:${index}`, responseStatus: Number(status) },
    };
    observe(state, riskEvent(event));
  }
  return sentenceOf(parseSession(serializeSession(state)), names);
}

test('says what a session did in the order of time', () => {
  expect(sentence('fetch_web_page', 'list_customers', 'send_email', 'delete_sent_mail')).toBe(
    'Read a web page, then listed customers, sent an email and deleted sent mail.',
  );
  expect(sentence('get_order', 'refund')).toBe('Looked up an order, then refunded.');
});

test.each([
  ['search_web', 'Searched the web.'],
  ['mcp__github__create_issue', 'Created an issue.'],
  ['getUserById', 'Looked up a user.'],
  ['customer_lookup', 'Looked up a customer.'],
  ['submit_tax_form', 'Submitted a tax form.'],
  ['Bash', 'Ran commands.'],
  ['WebFetch', 'Read a web page.'],
  ['apply_policy', 'Applied a policy.'],
  ['stop_server', 'Stopped a server.'],
  ['frobnicate', 'Used "frobnicate".'],
])('reads the name %s', (toolName, expected) => {
  expect(sentence(toolName)).toBe(expected);
});

test('uses the plural for what was done several times', () => {
  expect(sentence('send_email', 'send_email', 'read_file', 'read_file')).toBe(
    'Sent emails, then read files.',
  );
});

test('names the five tools that reach furthest, and counts the others', () => {
  const reads = ['calculate', 'get_weather', 'convert_units', 'get_time'];
  expect(sentence(...reads, 'list_customers', 'send_email', 'drop_table', 'pay_invoice', 'grant_role')).toBe(
    'Listed customers, then sent an email, dropped a table, paid an invoice, granted a role and used 4 other tools.',
  );
});

test('says what failed, and never that it was done', () => {
  expect(sentence('get_order', 'transfer_funds 403')).toBe('Looked up an order; transfer_funds was refused.');
  expect(sentence('delete_user 500')).toBe('Did nothing: delete_user failed.');
  expect(sentence()).toBe('No tool call succeeded.');
});

test('names tools with long names in full, and cuts made-up ones', () => {
  expect(sentence('list_all_customers_of_the_north')).toBe('Listed all customers.');
  expect(sentence(`send_${'x'.repeat(300)}`).length).toBeLessThan(80);
});
