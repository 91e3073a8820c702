// Each temporal policy that AWS has published for AgentCore, as a condition here. Sources, read in November 2026:
// [guide] docs.aws.amazon.com/bedrock-agentcore/latest/devguide/example-policies-temporal.html
// [banking] github.com/awslabs/amazon-bedrock-agentcore-samples, 02-policy/03-temporal-policies
// A `permit` there is the denial of its opposite here, because a check without a matching policy is allowed.
import { expect, test } from 'vitest';
import { Backtest } from '../backtest/backtest.ts';
import type { PastDecision } from '../backtest/history-replay.ts';
import type { DefinedPolicy, PolicyDefinition } from '../check/fired-policy.ts';

type Rule = readonly [tool: string, condition: string];

/** A call: tool, arguments, minutes after the one before, and the status with which it ends. */
interface Call {
  readonly tool: string;
  readonly args?: Record<string, unknown>;
  readonly after?: number;
  readonly status?: number;
}

function policyOf([tool, condition]: Rule, index: number): DefinedPolicy {
  const definition: PolicyDefinition = {
    name: `rule ${index}`,
    description: null,
    mode: 'enforce',
    effect: 'deny',
    priority: 0,
    match: { tools: [tool] },
    condition,
    rate: null,
    approval: null,
    schedule: null,
    message: null,
  };
  return { id: `pol_${index}`, definition };
}

/** Returns the decisions about calls of one session, in order. */
function decisions(rules: readonly Rule[], calls: readonly Call[]): string {
  const backtest = new Backtest(rules.map(policyOf));
  let atMs = Date.UTC(2026, 10, 1);
  return calls
    .map(({ tool, args = {}, after = 0.1, status = 200 }, index) => {
      atMs += after * 60_000;
      const call = { agentId: 'bot', toolName: tool, argumentsHash: 'sha256:aa' };
      const past: PastDecision = {
        ...call,
        id: `dec_${index}`,
        decidedAt: new Date(atMs).toISOString(),
        sessionId: 'session',
        actionId: `action-${index}`,
        framework: null,
        environment: null,
        principal: null,
        matched: [],
        dryRun: false,
        arguments: args,
        argumentsOmitted: false,
        origins: null,
        ended: { ...call, responseStatus: status, receivedMs: atMs },
      };
      return backtest.add(past).decision;
    })
    .join(' ');
}

const claim = (tool: string, claimId: string, also: Partial<Call> = {}): Call => ({
  tool,
  args: { claimId },
  ...also,
});

test('[guide] requires a prior approval for the same claim', () => {
  const rules: Rule[] = [
    ['disburse_payment', '!session.called("approve_claim", {"claimId": args.claimId}, duration("1h"))'],
  ];
  expect(decisions(rules, [claim('disburse_payment', 'a')])).toBe('deny');
  expect(decisions(rules, [claim('approve_claim', 'a'), claim('disburse_payment', 'a')])).toBe('allow allow');
  expect(decisions(rules, [claim('approve_claim', 'a'), claim('disburse_payment', 'b')])).toBe('allow deny');
});

test('[guide] requires a prerequisite that was attempted, or one that succeeded recently', () => {
  const attempted: Rule[] = [['approve_claim', '!session.started("get_claim_status", duration("5m"))']];
  const succeeded: Rule[] = [['approve_claim', '!session.called("get_claim_status", duration("5m"))']];
  const failed = [{ tool: 'get_claim_status', status: 500 }, { tool: 'approve_claim' }];
  expect(decisions(attempted, failed)).toBe('allow allow');
  expect(decisions(succeeded, failed)).toBe('allow deny');
  const late = [{ tool: 'get_claim_status' }, { tool: 'approve_claim' }, { tool: 'approve_claim', after: 5 }];
  expect(decisions(succeeded, late)).toBe('allow allow deny');
});

test('[guide] caps how many times an action runs', () => {
  const rules: Rule[] = [['disburse_payment', 'session.count("disburse_payment", duration("5m")) >= 3']];
  const pay = { tool: 'disburse_payment' };
  expect(decisions(rules, [pay, pay, pay, pay, { ...pay, after: 5 }])).toBe('allow allow allow deny allow');
});

test('[guide] caps a running total', () => {
  const rules: Rule[] = [
    [
      'disburse_payment',
      'session.sum("disburse_payment", "amountCents", duration("5m")) + double(args.amountCents) >= 300000.0',
    ],
  ];
  const pay = { tool: 'disburse_payment', args: { amountCents: 100_000 } };
  expect(decisions(rules, [pay, pay, pay])).toBe('allow allow deny');
});

test('[guide] makes each approval good for one use, and withdraws it when the claim is reopened', () => {
  const pay = { tool: 'disburse_payment' };
  const approve = { tool: 'approve_claim' };
  const once: Rule[] = [
    ['disburse_payment', '!session.calledAfter("approve_claim", "disburse_payment", duration("1h"))'],
  ];
  expect(decisions(once, [pay, approve, pay, pay, approve, pay])).toBe('deny allow allow deny allow allow');
  const standing: Rule[] = [
    ['disburse_payment', '!session.calledAfter("approve_claim", "get_claim_status", duration("5m"))'],
  ];
  const reopened = [pay, approve, pay, { tool: 'get_claim_status' }, pay, approve, pay];
  expect(decisions(standing, reopened)).toBe('deny allow allow allow deny allow allow');
});

test('[guide] enforces a cool-down', () => {
  const rules: Rule[] = [['disburse_payment', 'session.called("disburse_payment", duration("1m"))']];
  const pay = { tool: 'disburse_payment' };
  expect(decisions(rules, [pay, pay, { ...pay, after: 1 }])).toBe('allow deny allow');
});

test('[guide] requires a chain in order, and two prerequisites in any order', () => {
  const chain: Rule[] = [
    ['approve_claim', '!session.called("get_claim_status", duration("5m"))'],
    ['disburse_payment', '!session.called("approve_claim", duration("5m"))'],
  ];
  const look = { tool: 'get_claim_status' };
  const approve = { tool: 'approve_claim' };
  const pay = { tool: 'disburse_payment' };
  expect(decisions(chain, [pay, approve, look, pay, approve, pay])).toBe('deny deny allow deny allow allow');
  const both: Rule[] = [
    [
      'disburse_payment',
      '!(session.called("get_claim_status", duration("1h")) && session.called("approve_claim", duration("1h")))',
    ],
  ];
  expect(decisions(both, [approve, pay, look, pay])).toBe('allow deny allow allow');
  expect(decisions(both, [look, pay, approve, pay])).toBe('allow deny allow allow');
});

test('[guide] makes two actions mutually exclusive', () => {
  const rules: Rule[] = [
    ['delete_claim', 'session.started("disburse_payment", duration("2m"))'],
    ['disburse_payment', 'session.started("delete_claim", duration("2m"))'],
  ];
  const pay = { tool: 'disburse_payment' };
  const remove = { tool: 'delete_claim' };
  expect(decisions(rules, [pay, remove, { ...remove, after: 2 }, pay])).toBe('allow deny allow deny');
});

test('[guide] requires a number of completed calls for the same claim', () => {
  const rules: Rule[] = [
    ['delete_claim', 'session.successes("disburse_payment", {"claimId": args.claimId}, duration("5m")) < 2'],
  ];
  const pay = claim('disburse_payment', 'a');
  const calls = [
    pay,
    claim('disburse_payment', 'b'),
    claim('delete_claim', 'a'),
    pay,
    claim('delete_claim', 'a'),
  ];
  expect(decisions(rules, calls)).toBe('allow allow deny allow allow');
  expect(decisions(rules, [pay, { ...pay, status: 500 }, claim('delete_claim', 'a')])).toBe(
    'allow allow deny',
  );
});

test('[guide] blocks an action after an earlier denial', () => {
  const rules: Rule[] = [
    ['approve_claim', 'args.claimId == "locked"'],
    ['disburse_payment', 'session.failed("approve_claim", duration("3m"))'],
  ];
  const pay = { tool: 'disburse_payment' };
  const calls = [pay, claim('approve_claim', 'locked'), pay, { ...pay, after: 3 }];
  expect(decisions(rules, calls)).toBe('allow deny deny allow');
  expect(decisions(rules, [claim('approve_claim', 'a', { status: 500 }), pay])).toBe('allow deny');
});

test('[guide] combines the history with conditions on the request', () => {
  const rules: Rule[] = [
    [
      'file_claim',
      'session.count("file_claim", duration("24h")) >= 3 || args.description.contains("IBAN") || agent.id == "restricted"',
    ],
  ];
  const file = (description: string) => ({ tool: 'file_claim', args: { description } });
  const calls = [file('a'), file('IBAN DE00'), file('b'), file('c'), file('d')];
  expect(decisions(rules, calls)).toBe('allow deny allow allow deny');
});

test('[banking] requires a fresh lookup of the account, and an unused approval of large transfers', () => {
  const lookup = { tool: 'get_account_balance', args: { account_id: 'ACC-2002' } };
  const transfer = (amount: number, after = 0.1) => ({
    tool: 'transfer_funds',
    args: { to_account: 'ACC-2002', amount },
    after,
  });
  const rules: Rule[] = [
    [
      'transfer_funds',
      '!session.called("get_account_balance", {"account_id": args.to_account}, duration("2m"))',
    ],
    [
      'transfer_funds',
      'args.amount > 10000 && !session.calledAfter("approve_transfer", "transfer_funds", duration("30m"))',
    ],
    [
      'transfer_funds',
      'session.sum("transfer_funds", "amount", duration("24h")) + double(args.amount) >= 60000.0',
    ],
    ['transfer_funds', 'session.count("transfer_funds", duration("5m")) >= 5'],
  ];
  const approve = { tool: 'approve_transfer' };
  const calls = [lookup, transfer(500), transfer(15_000), approve, transfer(15_000), transfer(15_000)];
  expect(decisions(rules, calls)).toBe('allow allow deny allow allow deny');
  expect(decisions(rules, [lookup, transfer(500, 3)])).toBe('allow deny');
  expect(decisions(rules, [lookup, ...Array.from({ length: 6 }, () => transfer(10_000))])).toBe(
    'allow allow allow allow allow allow deny',
  );
});

test('[banking] requires a client and a fresh price before a trade, and an approval of a large one', () => {
  const profile = { tool: 'get_client_profile' };
  const price = { tool: 'get_market_price' };
  const trade = (cost: number, after = 0.1) => ({ tool: 'execute_trade', args: { cost }, after });
  const rules: Rule[] = [
    ['load_portfolio', '!session.called("get_client_profile", duration("5m"))'],
    [
      'execute_trade',
      '!session.called("get_client_profile", duration("24h")) || !session.called("get_market_price", duration("30s"))',
    ],
    [
      'execute_trade',
      'args.cost > 25000 && !session.calledAfter("approve_trade", "execute_trade", {"status": "approved"}, duration("24h"))',
    ],
    [
      'rebalance_portfolio',
      '!session.called("load_portfolio", duration("5m")) || !session.called("interact_advisor", duration("15m"))',
    ],
  ];
  expect(decisions(rules, [{ tool: 'load_portfolio' }, profile, { tool: 'load_portfolio' }])).toBe(
    'deny allow allow',
  );
  expect(decisions(rules, [profile, trade(15_000), price, trade(15_000), trade(15_000, 1)])).toBe(
    'allow deny allow allow deny',
  );
  const approve = (status: string) => ({ tool: 'approve_trade', args: { status } });
  const large = [
    profile,
    approve('rejected'),
    price,
    trade(30_000),
    approve('approved'),
    price,
    trade(30_000),
  ];
  expect(decisions(rules, large)).toBe('allow allow allow deny allow allow allow');
  const rebalance = { tool: 'rebalance_portfolio' };
  const load = { tool: 'load_portfolio' };
  expect(decisions(rules, [profile, load, rebalance, { tool: 'interact_advisor' }, rebalance])).toBe(
    'allow allow deny allow allow',
  );
});

test('[banking] forbids selling at a loss what was just bought, and rejecting what was just approved', () => {
  const rules: Rule[] = [
    [
      'execute_trade',
      'args.action == "sell" && args.cost < 0 && session.started("execute_trade", {"symbol": args.symbol, "action": "buy"}, duration("5m"))',
    ],
    ['reject_transfer', 'session.started("approve_transfer", duration("5m"))'],
    ['approve_transfer', 'session.started("reject_transfer", duration("5m"))'],
  ];
  const trade = (action: string, symbol: string, cost: number, after = 0.1) => ({
    tool: 'execute_trade',
    args: { action, symbol, cost },
    after,
  });
  const buy = trade('buy', 'AAPL', 1785);
  expect(decisions(rules, [buy, trade('sell', 'AAPL', -500)])).toBe('allow deny');
  expect(decisions(rules, [buy, trade('sell', 'AAPL', -500, 6)])).toBe('allow allow');
  expect(decisions(rules, [buy, trade('sell', 'MSFT', -500)])).toBe('allow allow');
  expect(decisions(rules, [buy, trade('sell', 'AAPL', 500)])).toBe('allow allow');
  expect(decisions(rules, [{ tool: 'approve_transfer' }, { tool: 'reject_transfer' }])).toBe('allow deny');
  expect(decisions(rules, [{ tool: 'reject_transfer' }, { tool: 'approve_transfer' }])).toBe('allow deny');
});
