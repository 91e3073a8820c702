// Made by scripts/field-descriptions.ts from the comments in schemas/: edit those.

/** What each field means, by the name of its schema in the OpenAPI document, and each parameter, by its operation. */
export const fieldDescriptions: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  ActivityEvent: {
    eventId: 'UUID. Identifies the event and makes sending it again harmless.',
    agentId: 'The agent that acted; it need not be registered.',
    sessionId:
      "The session that the event belongs to: the caller's own string, and the first event opens it.",
    sourceTimestamp: 'When it happened: ISO 8601 in UTC with a trailing `Z`.',
    category:
      "Kind of event; `tool_api` for tool calls. 100 characters at most, and `guardian_decision` is the service's own.",
    schemaVersion: 'Version of the event schema; `1.0`.',
    payload:
      'What happened: for `tool_api` exactly the fields of a tool call, for others any object, kept as it comes.',
  },
  ToolCallPayload: {
    toolName: 'Name of the tool called.',
    argumentsHash: 'Hash of the call arguments, such as `sha256:…`.',
    responseStatus: "Status code of the tool's response, as in HTTP: from 400 on it counts as an error.",
  },
  EventAck: {
    eventId: 'UUID of the accepted event.',
    receivedAt: 'When the service first took it: ISO 8601 with milliseconds, UTC.',
    warnings: 'What deserves a look, though the event was kept; empty when there are no warnings.',
  },
  EventWarning: {
    code: 'Machine-readable code, such as `AGENT_NOT_REGISTERED`; new ones may come.',
    message: 'The same for people, with what to do.',
  },
  ErrorEnvelope: { error: 'What went wrong.' },
  Fault: {
    code: 'Machine-readable code, such as `VALIDATION_ERROR`; new ones may come.',
    message: 'Human-readable message: what is wrong and what to do.',
    details:
      'Present for some errors: at `VALIDATION_ERROR` one `{path, code, message}` for each fault found.',
  },
  'sessions.list': {
    limit: 'Most results of the page, from 1 to 200; 50 by default.',
    cursor:
      'Opaque: the `nextCursor` of the page before, with all else the same; left out for the first page.',
    agentId: 'Only sessions in which this agent acted, whoever opened them.',
    startedAfter: 'Only sessions that began later, by `startedAt`; one of that very moment is left out.',
    startedBefore: 'Only sessions that began earlier, by `startedAt`; one of that very moment is left out.',
    minRiskScore: 'Only sessions with this risk score or a higher one; one that was not scored is left out.',
  },
  SessionPage: {
    items: 'The results, newest first.',
    nextCursor: 'Opaque: the `cursor` of the next page; null when there are no more results.',
  },
  Session: {
    id: 'The identifier that stands in the path: the `sessionId` of its events.',
    agentId: 'The agent that opened the session.',
    agentIds: 'Every agent that acted in it, in the order of their first events; at most the first 1,000.',
    startedAt: 'The earliest `sourceTimestamp` of its events.',
    lastEventAt: 'The latest `sourceTimestamp` of its events.',
    eventCount: 'Events in it, with those that the service writes itself.',
    errorCount: 'Tool calls that answered with a status of 400 or above.',
    toolNames: 'The first 50 tools, in order of first use.',
    risk: 'The present risk, or null when nothing was scored.',
  },
  SessionRisk: {
    score: 'How unusual and how dangerous the session is, 0 to 100; no probability.',
    level: 'How much attention the score asks for.',
  },
  'sessions.get': {
    id: 'The session: the `sessionId` of its events.',
    limit: 'Most results of the page, from 1 to 200; 50 by default.',
    cursor:
      'Opaque: the `nextCursor` of the page before, with all else the same; left out for the first page.',
  },
  SessionDetail: {
    id: 'The identifier that stands in the path: the `sessionId` of its events.',
    agentId: 'The agent that opened the session.',
    agentIds: 'Every agent that acted in it, in the order of their first events; at most the first 1,000.',
    startedAt: 'The earliest `sourceTimestamp` of its events.',
    lastEventAt: 'The latest `sourceTimestamp` of its events.',
    eventCount: 'Events in it, with those that the service writes itself.',
    errorCount: 'Tool calls that answered with a status of 400 or above.',
    toolNames: 'The first 50 tools, in order of first use.',
    risk: 'The present risk, or null when nothing was scored.',
    events: 'A page of its events, oldest first.',
    nextCursor: 'Opaque: the `cursor` of the next events; null when there are no more.',
  },
  StoredEvent: {
    eventId: 'UUID that its sender gave it.',
    agentId: 'The agent that acted.',
    sessionId: 'The session that it belongs to.',
    sourceTimestamp: 'When it happened, by the clock of its sender.',
    category:
      'Kind of event: `tool_api` for tool calls, `guardian_decision` for what the service itself writes.',
    schemaVersion: 'Version of the event schema.',
    payload: 'What happened; its fields depend on the category.',
    receivedAt: 'When the service took it, by the clock of the service.',
  },
  'sessions.risk': { id: 'The session: the `sessionId` of its events.' },
  Risk: {
    sessionId: 'The session that was scored.',
    score: 'How unusual and how dangerous the session is, 0 to 100; no probability.',
    level: 'How much attention the score asks for.',
    engineVersion: 'Version of the engine; compare scores only where it and `rulesetHash` are the same.',
    rulesetHash: 'SHA-256 in hex over the rules with their weights and limits.',
    computedAt: 'When this answer was computed.',
    eventCount: 'Events that were scored.',
    dimensions: 'All ten, in order.',
    factors: 'The five strongest factors of all dimensions; empty where no rule matched.',
    recommendations: 'What to do, in the order of `factors`.',
  },
  RiskDimension: {
    id: 'Its number in the OWASP Top 10 for Agentic Applications 2026.',
    name: 'Its name there, such as `Agent Goal Hijack`.',
    score: 'Score of this dimension alone, 0 to 100.',
    level: 'How much attention it asks for.',
    observable: 'False where the data cannot show this dimension: then the score is no all-clear.',
    factors: 'What its score rests on, strongest first.',
  },
  RiskFactor: {
    ruleId: 'The rule that matched.',
    title: 'The rule in a few words.',
    explanation: 'What was seen, in plain words, with no argument and no hash in it.',
    weight: 'Strength of the rule, 0 to 1.',
    delta: 'The score less the score without this factor; 0 where a stronger rule counted the same evidence.',
    evidence: 'The events that show it.',
    recommendation: 'What to do about it.',
  },
  RiskEvidence: {
    eventIds: 'At most five events that show it, oldest first.',
    count: 'How many events show it.',
  },
  RiskRecommendation: {
    id: 'The rule that it belongs to.',
    title: 'What to do, in a few words.',
    text: 'What to do.',
    dimension: 'The dimension that it is about, such as `ASI02`.',
  },
  'sessions.export': { id: 'The session: the `sessionId` of its events.' },
  SessionExport: {
    exportVersion: 'Version of this format.',
    exportedAt: 'When the export began; what came later is not in it.',
    session: 'The session as a list shows it.',
    risk: 'Its risk with all factors.',
    events: 'All its events, oldest first.',
    eventCount: 'Events in `events`.',
    contentSha256: 'SHA-256 in hex over the bytes of the `events` array as they stand in the document.',
  },
  AgentCreate: {
    name: 'What people call it; 200 characters at most. Names need not differ.',
    id: 'Chosen by the caller, so that code can name its agent before it is registered; left out: one is made.',
    description: 'What it is for, over several lines if need be; null for nothing. 2,000 characters at most.',
    framework: 'The AI framework it runs on, such as `langchain`; null for none. 100 characters at most.',
    version: 'Version of the agent itself, such as `1.4.2`; null for none. 100 characters at most.',
    owner: 'Who answers for it: a team or an address; null for nobody. 200 characters at most.',
    metadata: 'Free data, kept as it came: 256 KiB of JSON at most. Left out: empty.',
  },
  Agent: {
    id: 'Identifies it for good: the `agentId` of its events.',
    name: 'What people call it; null until it is registered.',
    description: 'What it is for; null where nobody said.',
    framework: 'The AI framework it runs on; null where nobody said.',
    version: 'Version of the agent itself; null where nobody said.',
    owner: 'Who answers for it: a team or an address; null where nobody said.',
    metadata: 'Free data of the caller; empty where nothing was given.',
    status:
      '`revoked` denies every action of it that is checked; its events are kept, each with the warning `AGENT_REVOKED`.',
    registered: 'False for an agent that sent events before anyone registered it.',
    createdAt: 'When it was registered, or first seen if that was earlier.',
    updatedAt: 'When its fields last changed; its events do not count.',
    lastSeenAt: 'When the service last received an event of it, to the second; null before the first.',
  },
  'agents.list': {
    limit: 'Most results of the page, from 1 to 200; 50 by default.',
    cursor:
      'Opaque: the `nextCursor` of the page before, with all else the same; left out for the first page.',
    registered: '`true` for agents that someone registered, `false` for those only seen; left out: all.',
    status: 'Only agents of this status; left out: all.',
  },
  AgentPage: {
    items: 'The results, newest first.',
    nextCursor: 'Opaque: the `cursor` of the next page; null when there are no more results.',
  },
  'agents.get': { id: 'The agent: the `agentId` of its events, registered or only seen.' },
  'agents.update': { id: 'The agent: the `agentId` of its events, registered or only seen.' },
  AgentUpdate: {
    name: 'What people call it; 200 characters at most. Names need not differ.',
    description: 'What it is for, over several lines if need be; null for nothing. 2,000 characters at most.',
    framework: 'The AI framework it runs on, such as `langchain`; null for none. 100 characters at most.',
    version: 'Version of the agent itself, such as `1.4.2`; null for none. 100 characters at most.',
    owner: 'Who answers for it: a team or an address; null for nobody. 200 characters at most.',
    metadata:
      'Merged member by member: null removes a member, and null instead of an object all of them. 256 KiB at most.',
    status: '`revoked` denies every action of it that is checked; `active` takes that back.',
  },
  'agents.sessions': {
    id: 'The agent: the `agentId` of its events, registered or only seen.',
    limit: 'Most results of the page, from 1 to 200; 50 by default.',
    cursor:
      'Opaque: the `nextCursor` of the page before, with all else the same; left out for the first page.',
    startedAfter: 'Only sessions that began later, by `startedAt`; one of that very moment is left out.',
    startedBefore: 'Only sessions that began earlier, by `startedAt`; one of that very moment is left out.',
    minRiskScore: 'Only sessions with this risk score or a higher one; one that was not scored is left out.',
  },
  PolicyCreate: {
    name: 'What people call it; 200 characters at most. Names need not differ.',
    effect:
      'What it does to an action. Of several policies, `deny` outweighs `require_approval`, and that `allow`.',
    description: 'What it is for, over several lines if need be; null for nothing. 2,000 characters at most.',
    mode: '`log_only` is reported by a check and decides nothing; `enforce` is the default.',
    priority: 'Order within one effect, highest first; 0 by default.',
    condition:
      'A CEL expression over `agent`, `session`, `action`, `args`, `framework` and `environment`; null for none.',
    message: 'Told to the caller where the policy applies, so write it for the model; null for nothing.',
    match: 'Whom it is about; an empty object is about every action.',
    rate: 'Fires only past this many actions in a window; null: on every action.',
    approval:
      'How an approval ends when nobody decides, for `require_approval` only; null: denied after 900 seconds.',
  },
  PolicyMatch: {
    agents: 'Ids of agents; left out: every agent.',
    tools: 'Names of tools; left out: every tool.',
    frameworks: 'AI frameworks that the check names; left out: every one, and none.',
    environments: 'Environments that the check names, such as `production`; left out: every one, and none.',
  },
  PolicyRate: {
    max: 'Actions that pass in the window; the policy fires from the next one on.',
    windowSeconds: 'Length of the window in seconds, which slides; a day at most.',
    per: 'What is counted together; an action without a session counts for its agent.',
  },
  PolicyApproval: {
    timeoutSeconds: 'Seconds that an action waits for a person; a week at most.',
    onTimeout: 'What the agent is told when nobody decides in time.',
  },
  Policy: {
    id: 'Identifies it for good.',
    name: 'What people call it; 200 characters at most. Names need not differ.',
    effect:
      'What it does to an action. Of several policies, `deny` outweighs `require_approval`, and that `allow`.',
    description: 'What it is for, over several lines if need be; null for nothing. 2,000 characters at most.',
    mode: '`log_only` is reported by a check and decides nothing; `enforce` is the default.',
    priority: 'Order within one effect, highest first; 0 by default.',
    condition:
      'A CEL expression over `agent`, `session`, `action`, `args`, `framework` and `environment`; null for none.',
    message: 'Told to the caller where the policy applies, so write it for the model; null for nothing.',
    match: 'Whom it is about; an empty object is about every action.',
    rate: 'Fires only past this many actions in a window; null: on every action.',
    approval:
      'How an approval ends when nobody decides, for `require_approval` only; null: denied after 900 seconds.',
    status: '`archived` is final: still read, never matched, never changed.',
    createdAt: 'When it was created.',
    updatedAt: 'When it last changed; archiving counts.',
    archivedAt: 'When it was archived; null while it is active.',
    version: '1 when it is created, and one more with each change.',
  },
  'policies.list': {
    limit: 'Most results of the page, from 1 to 200; 50 by default.',
    cursor:
      'Opaque: the `nextCursor` of the page before, with all else the same; left out for the first page.',
    status: 'Only policies of this status; left out: all, archived ones too.',
  },
  PolicyPage: {
    items: 'The results, newest first.',
    nextCursor: 'Opaque: the `cursor` of the next page; null when there are no more results.',
  },
  'policies.get': { id: 'The policy, archived or not.' },
  'policies.update': { id: 'The policy, archived or not.' },
  PolicyUpdate: {
    name: 'What people call it; 200 characters at most. Names need not differ.',
    effect:
      'What it does to an action. Of several policies, `deny` outweighs `require_approval`, and that `allow`.',
    description: 'What it is for, over several lines if need be; null for nothing. 2,000 characters at most.',
    mode: '`log_only` is reported by a check and decides nothing; `enforce` is the default.',
    priority: 'Order within one effect, highest first; 0 by default.',
    condition:
      'A CEL expression over `agent`, `session`, `action`, `args`, `framework` and `environment`; null for none.',
    message: 'Told to the caller where the policy applies, so write it for the model; null for nothing.',
    match: 'Merged list by list: one that is null is taken away, one that is left out stays.',
    rate: 'Merged field by field, and has to be whole afterwards; null takes it away.',
    approval: 'Merged field by field, and has to be whole afterwards; null takes it away.',
  },
  PolicyMatchUpdate: {
    agents: 'Ids of agents; left out: every agent.',
    tools: 'Names of tools; left out: every tool.',
    frameworks: 'AI frameworks that the check names; left out: every one, and none.',
    environments: 'Environments that the check names, such as `production`; left out: every one, and none.',
  },
  PolicyRateUpdate: {
    max: 'Actions that pass in the window; the policy fires from the next one on.',
    windowSeconds: 'Length of the window in seconds, which slides; a day at most.',
    per: 'What is counted together; an action without a session counts for its agent.',
  },
  PolicyApprovalUpdate: {
    timeoutSeconds: 'Seconds that an action waits for a person; a week at most.',
    onTimeout: 'What the agent is told when nobody decides in time.',
  },
  'policies.archive': { id: 'The policy, archived or not.' },
  PolicyCheck: {
    agentId: 'The agent that is about to act.',
    sessionId: 'The session it acts in, where denials and decisions are then recorded; left out: none.',
    action: 'What it is about to do.',
    framework: 'The AI framework it runs on, for policies that name frameworks; left out, they do not match.',
    environment:
      'Where it runs, such as `production`, for policies that name environments; left out, they do not match.',
    actionId:
      'Names the action through repeated checks, so that a held caller learns of the decision; one for each action.',
  },
  ProposedAction: {
    toolName: 'The tool that is about to be called.',
    argumentsHash: "Hash of the call's arguments, such as `sha256:…`: an approval is bound to it.",
    arguments:
      'Only what the caller chose to show, for conditions and for who decides. Nothing is shown where it is left out.',
  },
  CheckResult: {
    decision: 'Whether the action may run; at `require_approval` it has to wait, and the caller asks again.',
    decidedBy:
      'Id of the policy, or of the key of the person, behind the decision; `agent_revoked` where that is why; null when nothing matched.',
    matched: 'Every policy that applies, in the order of precedence; empty for none.',
    pendingActionId: 'The action that waits or waited for a person; null when none was held.',
    comment: 'What the person said who decided about the pending action; null for nothing.',
    expiresAt: 'When the wait for a person ends; null when none was held.',
  },
  PolicyMatched: {
    policyId: 'The policy, or `agent_revoked`.',
    effect: 'What the policy does to the action.',
    mode: '`log_only` is told of here and decides nothing.',
    why: 'Why it applies, in plain words, such as `the tool fits "refund*"`.',
    message: 'What the policy tells the caller; null for nothing.',
  },
  'guardian.pendingActions.list': {
    limit: 'Most results of the page, from 1 to 200; 50 by default.',
    cursor:
      'Opaque: the `nextCursor` of the page before, with all else the same; left out for the first page.',
    status: 'Only actions of this status; `pending` when left out.',
    agentId: 'Only actions of this agent.',
    sessionId: 'Only actions of this session.',
  },
  PendingActionPage: {
    items: 'The results, newest first.',
    nextCursor: 'Opaque: the `cursor` of the next page; null when there are no more results.',
  },
  PendingAction: {
    id: 'Identifies it for good; a check answers it as `pendingActionId`.',
    status: '`expired` when nobody decided in time; all but `pending` is final.',
    agentId: 'The agent that waits.',
    sessionId: 'The session of the action; null where the check named none.',
    policyId: 'The policy that holds the action.',
    action: 'What the agent is about to do.',
    reason: 'Why it is held: the message of the policy, else why the policy applies.',
    createdAt: 'When the wait began.',
    expiresAt: 'When the wait ends without a decision.',
    onTimeout: 'What the agent is told when nobody decides in time.',
    decision: 'What a person decided; null where nobody has.',
  },
  HeldAction: {
    toolName: 'The tool that is about to be called.',
    argumentsHash: "Hash of the call's arguments, such as `sha256:…`: an approval is bound to it.",
    arguments:
      'Only what the caller chose to show, for conditions and for who decides. Nothing is shown where it is left out.',
  },
  Decision: {
    decision: 'Whether the action may run.',
    comment: 'What the person said to it; null for nothing.',
    decidedBy: 'Id of the key of who decided.',
    decidedAt: 'When it was decided.',
  },
  'guardian.pendingActions.decide': {
    id: 'The pending action, as its list and the check that was held name it.',
  },
  Decide: {
    decision: 'Whether the action may run; final.',
    comment: 'Told to the agent, so write it for the model; left out: nothing. 2,000 characters at most.',
  },
  NotificationChannelCreate: {
    kind: 'Kind of channel; `webhook` is the only one, and the default.',
    url: 'Where to deliver: an absolute `http` or `https` address on the public network, without user name or password.',
    events: 'Kinds of event to deliver; all of them when left out.',
  },
  NotificationChannelCreated: {
    id: 'Identifies it for good.',
    kind: 'Kind of channel; `webhook` is the only one.',
    url: 'The address that deliveries are sent to.',
    events: 'Kinds of event that are delivered.',
    status: '`disabled` gets nothing any more: its receiver answered 410, or took nothing for days.',
    createdAt: 'When it was created.',
    lastDeliveryAt: 'When a delivery was last taken; null before the first.',
    failureCount: 'Tries that failed since a delivery was last taken.',
    secret: 'Signs the deliveries (`whsec_…`, Standard Webhooks); shown this once, so keep it.',
  },
  'notificationChannels.list': {
    limit: 'Most results of the page, from 1 to 200; 50 by default.',
    cursor:
      'Opaque: the `nextCursor` of the page before, with all else the same; left out for the first page.',
  },
  NotificationChannelPage: {
    items: 'The results, newest first.',
    nextCursor: 'Opaque: the `cursor` of the next page; null when there are no more results.',
  },
  NotificationChannel: {
    id: 'Identifies it for good.',
    kind: 'Kind of channel; `webhook` is the only one.',
    url: 'The address that deliveries are sent to.',
    events: 'Kinds of event that are delivered.',
    status: '`disabled` gets nothing any more: its receiver answered 410, or took nothing for days.',
    createdAt: 'When it was created.',
    lastDeliveryAt: 'When a delivery was last taken; null before the first.',
    failureCount: 'Tries that failed since a delivery was last taken.',
  },
  SessionRiskRaisedMessage: {
    type: 'What happened; tells the kinds of delivery apart.',
    timestamp: 'When it happened, which is not when it is delivered.',
    data: 'What it happened to.',
  },
  RaisedRisk: {
    sessionId: 'The session whose risk rose.',
    agentId: 'The agent that opened the session.',
    score: 'The new score, 0 to 100.',
    level: 'The new level, higher than the one before.',
    previousLevel: 'The level before; null where the session was not scored yet.',
  },
  PolicyMatchedMessage: {
    type: 'What happened; tells the kinds of delivery apart.',
    timestamp: 'When it happened, which is not when it is delivered.',
    data: 'What it happened to.',
  },
  MatchedAction: {
    policyId: 'The policy that matched, or `agent_revoked`.',
    agentId: 'The agent that is about to act.',
    sessionId: 'The session it acts in; null where the check named none.',
    toolName: 'The tool that it is about to call.',
    effect: 'What the policy does to the action; another policy may outweigh it.',
    mode: '`log_only` decided nothing.',
  },
  GuardianActionPendingMessage: {
    type: 'What happened; tells the kinds of delivery apart.',
    timestamp: 'When it happened, which is not when it is delivered.',
    data: 'What it happened to.',
  },
  GuardianActionDecidedMessage: {
    type: 'What happened; tells the kinds of delivery apart.',
    timestamp: 'When it happened, which is not when it is delivered.',
    data: 'What it happened to.',
  },
};
