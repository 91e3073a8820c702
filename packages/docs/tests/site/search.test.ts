import { describe, expect, test } from 'vitest';
import { openDocs, search, useDocsServer } from './docs-browser.ts';

describe('the search box', () => {
  useDocsServer();

  test.each([
    ['retention', 'operate/keys-and-retention'],
    ['approve', 'guides/guard-and-approvals'],
    ['idempotency', 'reference/http-api'],
    ['rate limit', 'reference/http-api'],
    ['kill switch', 'guides/guard-and-approvals'],
    ['redact', 'guides/privacy'],
    ['quota', 'operate/quotas'],
    ['backup', 'operate/backup'],
    ['langgraph', 'adapters/langchain'],
    ['webhook', 'reference/http/webhooks'],
  ])('leads from "%s" to %s as first or second result', async (query, expected) => {
    const page = await openDocs('start/quick-start');
    const found = await search(page, query);
    expect(found.slice(0, 2)).toContain(`/docs/${expected}`);
  });

  test.each([
    ['SSO', 'operate/sign-in'],
    ['single sign-on', 'operate/sign-in'],
    ['GDPR', 'guides/privacy'],
    ['erase', 'operate/keys-and-retention'],
    ["delete a person's data", 'operate/keys-and-retention'],
    ['threshold', 'guides/risk'],
    ['false positive', 'guides/risk'],
    ['block a tool', 'guides/guard-and-approvals'],
    ['four eyes', 'guides/guard-and-approvals'],
    ['docker', 'operate/deployment'],
    ['nginx', 'operate/deployment'],
    ['prometheus', 'operate/monitoring'],
    ['splunk', 'operate/forwarding'],
    ['EU AI Act', 'operate/compliance'],
    ['tamper', 'operate/evidence'],
    ['rotate a key', 'operate/keys-and-retention'],
    ['claude code', 'start/coding-agents'],
    ['python', 'start/otlp'],
    ['postgres', 'operate/postgresql'],
    ['kubernetes', 'operate/deployment'],
    ['lost events', 'guides/delivery-guarantees'],
    ['how do I approve an action', 'guides/guard-and-approvals'],
    ['how do I rotate a key', 'operate/keys-and-retention'],
    ['how do I block a tool', 'guides/guard-and-approvals'],
    ['how can I delete old data', 'operate/keys-and-retention'],
    ['what happens to events in an outage', 'guides/delivery-guarantees'],
    ['how do I hide secrets in arguments', 'guides/privacy'],
    ['is the log tamper-evident', 'operate/evidence'],
    ['how do I run it with docker', 'operate/deployment'],
    ['why is a score wrong', 'guides/risk'],
    ['slack', 'operate/channels'],
  ])('answers "%s" with %s first', async (query, expected) => {
    const page = await openDocs('start/quick-start');
    const [first] = await search(page, query);
    expect(first).toBe(`/docs/${expected}`);
  });

  test('finds a symbol of the TypeScript reference by its name', async () => {
    const page = await openDocs('');
    expect(await search(page, 'isKnownEvent')).toContain('/docs/reference/typescript/@actlog/client-records');
  });

  test('opens the result at its heading', async () => {
    const page = await openDocs('');
    await search(page, 'retention');
    await page.keyboard.press('Enter');
    await page.waitForURL(/operate\/keys-and-retention#/);
    await page.getByRole('heading', { name: 'Set the retention' }).waitFor();
  });
});
