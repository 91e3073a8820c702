/**
 * Further words that people look for, by page and heading. The search shows them behind the heading, so that a reader sees
 * why it was found. The anchor of a page's title is the one of its first heading.
 */
export const searchTerms: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'guides/guard-and-approvals.md': {
    'guard-and-approvals': 'block a tool, human in the loop',
    'approve-or-deny-a-held-action': 'how do I approve an action, confirm, reject',
    'stop-an-agent-with-the-kill-switch': 'disable, revoke',
    'require-several-approvers': 'four eyes, two-person rule',
  },
  'guides/delivery-guarantees.md': { 'delivery-guarantees': 'lost events, outage' },
  'guides/privacy.md': {
    privacy: 'personal data, PII, GDPR, data protection',
    'redact-arguments': 'mask, hide secrets',
  },
  'guides/risk.md': {
    'how-to-read-a-score': 'threshold, levels, severity',
    'correct-a-score': 'false positive, false alarm',
  },
  'guides/observe-to-enforce.md': { 'from-observe-to-enforce-in-a-week': 'roll out, dry run, log only' },
  'guides/policies-as-code.md': { 'policies-as-code': 'YAML, Git, Terraform' },
  'start/coding-agents.md': { 'guard-a-coding-agent': 'Claude Code, Codex, Copilot, Cursor' },
  'start/gateway.md': { 'guard-an-mcp-client-that-you-cannot-change': 'proxy, Claude Desktop' },
  'start/otlp.md': { 'record-a-python-agent': 'CrewAI, AutoGen, Pydantic AI, OpenTelemetry' },
  'operate/sign-in.md': {
    'let-people-sign-in': 'single sign-on, SSO, login, SAML',
    'sign-in-with-an-openid-provider': 'OIDC, Okta, Entra, Google, Keycloak',
    'sign-in-at-a-proxy': 'oauth2-proxy',
  },
  'operate/keys-and-retention.md': {
    'manage-keys': 'API key, token, rotate, revoke',
    'set-the-retention': 'how long, delete old data',
    erasure: "erase, delete a person's data, right to be forgotten, GDPR",
  },
  'operate/deployment.md': {
    'deploy-the-server': 'production, high availability',
    'run-in-a-container': 'Docker, Compose, image, Podman',
    'run-on-kubernetes': 'Kubernetes, k8s, Helm',
    'use-a-reverse-proxy': 'nginx, HAProxy, Caddy, TLS, HTTPS, load balancer',
  },
  'operate/monitoring.md': { 'monitor-the-server': 'Prometheus, Grafana, health, alerts' },
  'operate/postgresql.md': { 'run-on-postgresql': 'Postgres, database, scale' },
  'operate/evidence.md': { 'prove-what-was-recorded': 'tamper-evident, immutable, transparency log' },
  'operate/compliance.md': { 'frameworks-and-laws': 'compliance, SOC 2, ISO, NIST' },
  'operate/troubleshooting.md': { troubleshooting: 'error, not working, debug, doctor' },
  'operate/upgrading.md': { upgrading: 'update, migrate, new version' },
  'operate/backup.md': { 'backup-and-restore': 'disaster recovery, snapshot' },
};

/**
 * Returns the HTML of a page with the further words behind its headings, for the search index.
 *
 * @throws Error if the page lacks a heading that the terms name.
 */
export function withSearchTerms(html: string, page: string): string {
  return Object.entries(searchTerms[page] ?? {}).reduce((changed, [anchor, terms]) => {
    const heading = new RegExp(
      `(<h([1-6])[^>]*\\bid="${anchor}"[^>]*>)(.*?)(\\s*<a class="header-anchor")`,
      's',
    );
    if (!heading.test(changed)) {
      throw new Error(`${page} has no heading "${anchor}", which packages/docs/site/search-terms.ts names.`);
    }
    return changed.replace(heading, `$1$3 (${terms})$4`);
  }, html);
}
