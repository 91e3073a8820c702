// Made by scripts/field-descriptions.ts from the comments in schemas/: edit those.

/** Descriptions of fields, by the name of their schema in the OpenAPI document, and of parameters, by operation. */
export const fieldDescriptions: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  ActivityEvent: {
    eventId:
      'UUID of the event, in upper or lower case, returned in lower case. Sending the same event again is safe.',
    agentId: 'The agent that acted; it need not be registered.',
    sessionId:
      'Session of the event: an identifier chosen by the caller. The first event creates the session.',
    sourceTimestamp: 'Time of the event: ISO 8601 in UTC with a trailing `Z`, at most 40 characters.',
    category:
      "Kind of event, at most 100 characters; `tool_api` for tool calls, `argument_origins` for the origins of their arguments, `subagent_call` for the calls of a subagent, `session_seal` for the ids of a session's events. `guardian_decision`, in any spelling, is reserved for the service.",
    schemaVersion: 'Version of the event schema; `1.0`.',
    payload:
      'Data of the event: exactly the fields of a tool call for `tool_api`; `eventId`, `toolName` and `origins` for `argument_origins`; `eventId`, `toolName`, `subagent` and `parentAgentIds` for `subagent_call`; `sealer`, `count`, `eventIds`, `chain` and `isLast` for `session_seal`; any object, stored unchanged, for other categories.',
  },
  ToolCallPayload: {
    toolName: 'Name of the tool called.',
    argumentsHash: 'Hash of the call arguments, such as `sha256:…`.',
    responseStatus: "Status code of the tool's response, as in HTTP; 400 and above counts as an error.",
  },
  EventAck: {
    eventId: 'UUID of the accepted event.',
    receivedAt: 'Time at which the service first received the event: ISO 8601 with milliseconds, UTC.',
    warnings: 'Warnings about the stored event; empty if there are none.',
  },
  EventWarning: {
    code: 'Machine-readable code, such as `AGENT_NOT_REGISTERED`; more codes may be added.',
    message: 'Human-readable message that names the problem and the fix.',
  },
  ErrorEnvelope: { error: 'The error.' },
  ApiError: {
    code: 'Machine-readable code, such as `VALIDATION_ERROR`; more codes may be added.',
    message: 'Human-readable message that names the problem and the fix.',
    details: 'Present for some errors: for `VALIDATION_ERROR` one `{path, code, message}` for each problem.',
  },
  'sessions.list': {
    limit: 'Maximum number of results, from 1 to 200; 50 by default.',
    cursor:
      'Opaque: the `nextCursor` of the previous page, with all other parameters unchanged; omitted for the first page.',
    agentId: 'Only sessions in which this agent acted, even if another agent opened them.',
    agentIdContains:
      'Only sessions in which an agent acted whose id contains this text, in upper or lower case.',
    sort: '`startedAt` lists the newest sessions first; `riskScore` the highest scores first, and of equal ones the newest. `startedAt` by default.',
    startedAfter: 'Only sessions whose `startedAt` is later than this time (exclusive).',
    startedBefore: 'Only sessions whose `startedAt` is earlier than this time (exclusive).',
    minRiskScore: 'Only sessions with at least this risk score; unscored sessions are excluded.',
    level: 'Only sessions whose current risk is of this level.',
    toolName: 'Only sessions in which this tool was called.',
    status:
      'Only sessions with a failed tool call (`errors`), an action that a policy or an approver denied (`denied`), or an action that was held for approval (`held`).',
    idContains: 'Only sessions whose id contains this text, in upper or lower case.',
  },
  SessionPage: {
    items: 'The results, newest first.',
    nextCursor: 'Opaque cursor of the next page; null if there are no more results.',
  },
  Session: {
    id: 'Identifier in the path: the `sessionId` of its events.',
    agentId: 'The agent that opened the session.',
    agentIds: 'Every agent that acted in it, ordered by first event; at most the first 1,000.',
    startedAt: 'Earliest `sourceTimestamp` of its events.',
    lastEventAt: 'Latest `sourceTimestamp` of its events.',
    eventCount: 'Number of events, including those that the service writes itself.',
    errorCount: 'Number of tool calls with a response status of 400 or above.',
    toolNames: 'The first 50 tools, ordered by first use.',
    risk: 'Current risk; null if nothing was scored.',
  },
  SessionRisk: {
    score: 'Measure of how unusual and dangerous the session is, 0 to 100; not a probability.',
    level: 'Level of the score.',
  },
  'sessions.get': {
    id: 'Id of the session: the `sessionId` of its events.',
    limit: 'Maximum number of results, from 1 to 200; 50 by default.',
    cursor:
      'Opaque: the `nextCursor` of the previous page, with all other parameters unchanged; omitted for the first page.',
  },
  SessionDetail: {
    id: 'Identifier in the path: the `sessionId` of its events.',
    agentId: 'The agent that opened the session.',
    agentIds: 'Every agent that acted in it, ordered by first event; at most the first 1,000.',
    startedAt: 'Earliest `sourceTimestamp` of its events.',
    lastEventAt: 'Latest `sourceTimestamp` of its events.',
    eventCount: 'Number of events, including those that the service writes itself.',
    errorCount: 'Number of tool calls with a response status of 400 or above.',
    toolNames: 'The first 50 tools, ordered by first use.',
    risk: 'Current risk; null if nothing was scored.',
    events: 'A page of its events, oldest first.',
    nextCursor: 'Opaque cursor of the next events; null if there are no more.',
  },
  StoredEvent: {
    eventId: 'UUID given by the sender.',
    agentId: 'The agent that acted.',
    sessionId: 'The session of the event.',
    sourceTimestamp: "Time of the event by the sender's clock.",
    category:
      'Kind of event: `tool_api` for tool calls, `argument_origins` and `subagent_call` for facts about them, `guardian_decision` for events that the service writes.',
    schemaVersion: 'Version of the event schema.',
    payload: 'Data of the event; its fields depend on the category.',
    receivedAt: "Time at which the service received the event, by the service's clock.",
    identity: 'Verified identity of the sender; missing if it sent no token.',
    traceparent: 'W3C `traceparent` of the call; missing if its sender named none.',
  },
  CallerIdentity: {
    issuer: 'Issuer of the token.',
    subject: 'Subject of the token.',
    agentVerified: '`true` if the token verifies the agent of the request.',
    principalVerified: '`true` if the token names the principal of the request.',
  },
  'sessions.risk': { id: 'Id of the session: the `sessionId` of its events.' },
  Risk: {
    sessionId: 'The session that was scored.',
    score: 'Measure of how unusual and dangerous the session is, 0 to 100; not a probability.',
    level: 'Level of the score: `medium` from 40, `high` from 70, `critical` from 90.',
    engineVersion:
      'Version of the engine. Only compare scores with the same `engineVersion` and `rulesetHash`.',
    rulesetHash: 'SHA-256 in hex of the rules with their weights and limits.',
    computedAt: 'Time at which the score was computed.',
    eventCount: 'Number of events that were scored.',
    dimensions: 'All ten dimensions, in order.',
    factors: 'The five strongest factors of all dimensions; empty if no rule matched.',
    recommendations: 'Recommendations, in the order of `factors`.',
  },
  RiskDimension: {
    id: 'Its number in the OWASP Top 10 for Agentic Applications 2026.',
    name: 'Name of the dimension there, such as `Agent Goal Hijack`.',
    score: 'Score of this dimension alone, 0 to 100.',
    level: 'Level of the score: `medium` from 40, `high` from 70, `critical` from 90.',
    observable: 'False if the data cannot show this dimension; then a low score is not an all-clear.',
    factors: 'Reasons for the score, strongest first.',
  },
  RiskFactor: {
    ruleId: 'Id of the rule that matched.',
    title: 'Short name of the rule.',
    explanation: 'Description of the finding in plain words, without arguments or hashes.',
    weight: 'Strength of the rule, 0 to 1.',
    delta: 'Score minus the score without this factor; 0 if a stronger rule counted the same evidence.',
    evidence: 'Events that the rule matched.',
    recommendation: 'Recommended response.',
  },
  RiskEvidence: {
    eventIds: 'Ids of at most five such events, oldest first.',
    count: 'Total number of such events.',
  },
  RiskRecommendation: {
    id: 'Id of the rule that it belongs to.',
    title: 'Recommendation in a few words.',
    text: 'Recommendation in full.',
    dimension: 'Dimension of the rule, such as `ASI02`.',
  },
  'sessions.export': { id: 'Id of the session: the `sessionId` of its events.' },
  SessionExport: {
    exportVersion: 'Version of the export format.',
    exportedAt: 'Time at which the export began; later events are not included.',
    session: 'The session as in a list.',
    risk: 'Risk of the session with all factors.',
    events: 'All events of the session, oldest first.',
    eventCount: 'Number of events in `events`.',
    contentSha256: 'SHA-256 in hex of the bytes of the `events` array as written in the document.',
  },
  AgentCreate: {
    name: 'Display name, at most 200 characters; it need not be unique.',
    id: 'Identifier chosen by the caller, so that code can use it before the agent is registered; generated if omitted.',
    description: 'Purpose of the agent, at most 2,000 characters, may span several lines; null for none.',
    framework: 'AI framework of the agent, such as `langchain`, at most 100 characters; null for none.',
    version: 'Version of the agent itself, such as `1.4.2`, at most 100 characters; null for none.',
    owner: 'Team or address that is responsible for the agent, at most 200 characters; null for none.',
    metadata: 'Custom data, stored unchanged, at most 256 KiB of JSON; empty if omitted.',
  },
  Agent: {
    id: 'Permanent identifier: the `agentId` of its events.',
    name: 'Display name; null until the agent is registered.',
    description: 'Purpose of the agent; null if not given.',
    framework: 'AI framework of the agent; null if not given.',
    version: 'Version of the agent itself; null if not given.',
    owner: 'Team or address that is responsible for the agent; null if not given.',
    metadata: 'Custom data of the caller; empty if not given.',
    status:
      'If `revoked`, every check of its actions is denied; its events are still stored, each with the warning `AGENT_REVOKED`.',
    registered: 'False for an agent that has sent events but was never registered.',
    createdAt: 'Time at which the agent was registered, or first seen if that was earlier.',
    updatedAt: 'Time of the last change to its fields; events do not count.',
    lastSeenAt:
      'Time at which the service last received one of its events, rounded to the second; null before the first.',
  },
  'agents.list': {
    limit: 'Maximum number of results, from 1 to 200; 50 by default.',
    cursor:
      'Opaque: the `nextCursor` of the previous page, with all other parameters unchanged; omitted for the first page.',
    registered:
      '`true` for registered agents, `false` for agents known only from their events; all if omitted.',
    status: 'Only agents with this status; all if omitted.',
  },
  AgentPage: {
    items: 'The results, newest first.',
    nextCursor: 'Opaque cursor of the next page; null if there are no more results.',
  },
  'agents.get': { id: 'Id of the agent: the `agentId` of its events, registered or not.' },
  'agents.update': { id: 'Id of the agent: the `agentId` of its events, registered or not.' },
  AgentUpdate: {
    name: 'Display name, at most 200 characters; it need not be unique.',
    description: 'Purpose of the agent, at most 2,000 characters, may span several lines; null for none.',
    framework: 'AI framework of the agent, such as `langchain`, at most 100 characters; null for none.',
    version: 'Version of the agent itself, such as `1.4.2`, at most 100 characters; null for none.',
    owner: 'Team or address that is responsible for the agent, at most 200 characters; null for none.',
    metadata:
      'Merged member by member: null removes a member, and null instead of an object removes all. At most 256 KiB.',
    status: '`revoked` denies every check of its actions; `active` reverts that.',
  },
  'agents.sessions': {
    id: 'Id of the agent: the `agentId` of its events, registered or not.',
    limit: 'Maximum number of results, from 1 to 200; 50 by default.',
    cursor:
      'Opaque: the `nextCursor` of the previous page, with all other parameters unchanged; omitted for the first page.',
    sort: '`startedAt` lists the newest sessions first; `riskScore` the highest scores first, and of equal ones the newest. `startedAt` by default.',
    startedAfter: 'Only sessions whose `startedAt` is later than this time (exclusive).',
    startedBefore: 'Only sessions whose `startedAt` is earlier than this time (exclusive).',
    minRiskScore: 'Only sessions with at least this risk score; unscored sessions are excluded.',
    level: 'Only sessions whose current risk is of this level.',
    toolName: 'Only sessions in which this tool was called.',
    status:
      'Only sessions with a failed tool call (`errors`), an action that a policy or an approver denied (`denied`), or an action that was held for approval (`held`).',
    idContains: 'Only sessions whose id contains this text, in upper or lower case.',
  },
  PolicyCreate: {
    name: 'Display name, at most 200 characters; it need not be unique.',
    effect:
      'Effect on an action. `deny` takes precedence over `require_approval`, which takes precedence over `allow`.',
    description: 'Purpose of the policy, at most 2,000 characters, may span several lines; null for none.',
    mode: '`log_only` policies are reported by a check but do not affect the decision; `enforce` by default.',
    priority:
      'Order among policies with the same effect, highest first; 0 by default. A policy that denies or holds with -1000 decides only if no other enforced policy applies.',
    condition:
      'A CEL expression over `agent`, `session`, `action`, `args`, `origins`, `framework`, `environment` and `principal`; null for none. `session` and `agent` have functions that read earlier calls, such as `session.called("approve_*")`.',
    message: 'Message to the caller if the policy applies, so write it for the model; null for none.',
    match: 'Actions that the policy applies to; an empty object matches every action.',
    rate: 'Applies only after this many actions in a window; null applies to every action.',
    approval:
      'Timeout, approvers and use of approvals, for `require_approval` only; null: denied after 900 seconds.',
    schedule: 'Times at which the policy applies; null applies always.',
  },
  PolicyMatch: {
    agents: 'Ids of agents; every agent if omitted.',
    tools: 'Names of tools; every tool if omitted.',
    frameworks: 'AI frameworks that the check names; any or none if omitted.',
    environments: 'Environments that the check names, such as `production`; any or none if omitted.',
  },
  PolicyRate: {
    max: 'Number of actions allowed in the window; the policy applies from the next one on.',
    windowSeconds: 'Length of the sliding window in seconds; at most one day.',
    per: 'Scope of the count; an action without a session counts for its agent.',
  },
  PolicyApproval: {
    timeoutSeconds: 'Time that an action waits for a decision, in seconds; at most one week.',
    onTimeout: 'Decision that the agent receives if nobody decides in time.',
    singleUse:
      '`true` if each approval lets one call run and a later call needs another; false by default. A repeat of the same check, by its `actionId`, still gets `allow` for 60 seconds.',
    requiredApprovers:
      'Number of approvers who must approve; 1 by default. Each approver counts once, and one denial denies.',
    notRequester:
      '`true` if the requester cannot approve: neither the key that sent the check, nor the same principal; false by default.',
    verifiedPrincipal:
      '`true` if nobody can approve an action unless a token verifies its principal; false by default.',
    approverKeys:
      'Ids of the API keys that may approve; every key with the scope `decide` if omitted. Any of those can deny.',
    approverGroups:
      'Groups whose people may approve, as the sign-in names them; everyone who may decide if omitted. Any of those can deny.',
    editable:
      'Arguments that an approver may change within limits, for an approval of the changed arguments; none if omitted.',
  },
  EditableArgument: {
    path: 'Argument that an approver may change if the agent shows it: names joined with dots, such as `amount` or `address.city`.',
    max: 'Highest changed number, which is also never above the requested one.',
    min: 'Lowest changed number; 0 by default.',
    subset:
      '`true` permits a list with at least one of the requested elements and no others, in their order.',
    oneOf: 'Texts that the changed text can be.',
    anyText: '`true` permits any changed text of at most 2,000 characters.',
  },
  PolicySchedule: {
    timeZone: 'Time zone by whose clock the days and times are meant, such as `Europe/Berlin`.',
    days: 'Days on which the window starts; every day if omitted.',
    from: 'Start of the window on each day (inclusive), such as `09:00`; `00:00` by default.',
    to: 'End of the window (exclusive), such as `17:30`; `24:00` by default. Before `from`, it is on the next day.',
  },
  Policy: {
    id: 'Permanent identifier.',
    name: 'Display name, at most 200 characters; it need not be unique.',
    effect:
      'Effect on an action. `deny` takes precedence over `require_approval`, which takes precedence over `allow`.',
    description: 'Purpose of the policy, at most 2,000 characters, may span several lines; null for none.',
    mode: '`log_only` policies are reported by a check but do not affect the decision; `enforce` by default.',
    priority:
      'Order among policies with the same effect, highest first; 0 by default. A policy that denies or holds with -1000 decides only if no other enforced policy applies.',
    condition:
      'A CEL expression over `agent`, `session`, `action`, `args`, `origins`, `framework`, `environment` and `principal`; null for none. `session` and `agent` have functions that read earlier calls, such as `session.called("approve_*")`.',
    message: 'Message to the caller if the policy applies, so write it for the model; null for none.',
    match: 'Actions that the policy applies to; an empty object matches every action.',
    rate: 'Applies only after this many actions in a window; null applies to every action.',
    approval:
      'Timeout, approvers and use of approvals, for `require_approval` only; null: denied after 900 seconds.',
    schedule: 'Times at which the policy applies; null applies always.',
    status: '`archived` is permanent: the policy can be read but never matches and never changes.',
    createdAt: 'Time at which the policy was created.',
    updatedAt: 'Time of the last change, including archiving.',
    archivedAt: 'Time at which the policy was archived; null while it is active.',
    version: '1 on creation, incremented by each change.',
  },
  'policies.list': {
    limit: 'Maximum number of results, from 1 to 200; 50 by default.',
    cursor:
      'Opaque: the `nextCursor` of the previous page, with all other parameters unchanged; omitted for the first page.',
    status: 'Only policies with this status; all if omitted, including archived ones.',
  },
  PolicyPage: {
    items: 'The results, newest first.',
    nextCursor: 'Opaque cursor of the next page; null if there are no more results.',
  },
  'policies.get': { id: 'Id of the policy, archived or not.' },
  'policies.update': { id: 'Id of the policy, archived or not.' },
  PolicyUpdate: {
    name: 'Display name, at most 200 characters; it need not be unique.',
    effect:
      'Effect on an action. `deny` takes precedence over `require_approval`, which takes precedence over `allow`.',
    description: 'Purpose of the policy, at most 2,000 characters, may span several lines; null for none.',
    mode: '`log_only` policies are reported by a check but do not affect the decision; `enforce` by default.',
    priority:
      'Order among policies with the same effect, highest first; 0 by default. A policy that denies or holds with -1000 decides only if no other enforced policy applies.',
    condition:
      'A CEL expression over `agent`, `session`, `action`, `args`, `origins`, `framework`, `environment` and `principal`; null for none. `session` and `agent` have functions that read earlier calls, such as `session.called("approve_*")`.',
    message: 'Message to the caller if the policy applies, so write it for the model; null for none.',
    match: 'Merged list by list: null removes a list, an omitted list stays unchanged.',
    rate: 'Merged field by field; the result must be complete. Null removes it.',
    approval: 'Merged field by field; the result must be complete. Null removes it.',
    schedule: 'Merged field by field; the result must be complete. Null removes it.',
  },
  PolicyMatchUpdate: {
    agents: 'Ids of agents; every agent if omitted.',
    tools: 'Names of tools; every tool if omitted.',
    frameworks: 'AI frameworks that the check names; any or none if omitted.',
    environments: 'Environments that the check names, such as `production`; any or none if omitted.',
  },
  PolicyRateUpdate: {
    max: 'Number of actions allowed in the window; the policy applies from the next one on.',
    windowSeconds: 'Length of the sliding window in seconds; at most one day.',
    per: 'Scope of the count; an action without a session counts for its agent.',
  },
  PolicyApprovalUpdate: {
    timeoutSeconds: 'Time that an action waits for a decision, in seconds; at most one week.',
    onTimeout: 'Decision that the agent receives if nobody decides in time.',
    singleUse:
      '`true` if each approval lets one call run and a later call needs another; false by default. A repeat of the same check, by its `actionId`, still gets `allow` for 60 seconds.',
    requiredApprovers:
      'Number of approvers who must approve; 1 by default. Each approver counts once, and one denial denies.',
    notRequester:
      '`true` if the requester cannot approve: neither the key that sent the check, nor the same principal; false by default.',
    verifiedPrincipal:
      '`true` if nobody can approve an action unless a token verifies its principal; false by default.',
    approverKeys:
      'Ids of the API keys that may approve; null lets every key with the scope `decide` approve.',
    editable: 'Arguments that an approver may change within limits; null for none.',
    approverGroups: 'Groups whose people may approve; null lets everyone who may decide approve.',
  },
  PolicyScheduleUpdate: {
    timeZone: 'Time zone by whose clock the days and times are meant, such as `Europe/Berlin`.',
    days: 'Days on which the window starts; null for every day.',
    from: 'Start of the window on each day (inclusive); null for `00:00`.',
    to: 'End of the window (exclusive); null for `24:00`.',
  },
  'policies.archive': { id: 'Id of the policy, archived or not.' },
  PolicyCheck: {
    agentId: 'The agent that is about to act.',
    sessionId: 'Session of the action, in which denials and decisions are recorded; none if omitted.',
    action: 'Action that the agent is about to take.',
    framework:
      'AI framework of the agent, for policies that match on frameworks; they do not match if omitted.',
    environment:
      'Environment such as `production`, for policies that match on environments; they do not match if omitted.',
    holdSeconds:
      "Holds the action for a person's decision even if no policy requires one, as for a permission prompt of the agent itself; a policy that denies takes precedence. The hold ends after this number of seconds without another check of the action. Not held for that reason if omitted.",
    actionId:
      'Identifies the action across repeated checks, so that a caller can poll for an approval; unique per action.',
    principal:
      'Person or system on whose behalf the agent acts, for conditions and the approver; none if omitted.',
    subagent:
      "Name of the agent's subagent that acts, for conditions and the approver; it does not count as an agent. None if omitted.",
    parentAgentIds:
      'Agents that the agent runs inside, nearest first; their policies, rates and revocation apply too. None if omitted.',
  },
  ProposedAction: {
    toolName: 'Name of the tool that is about to be called.',
    argumentsHash: "Hash of the call's arguments, such as `sha256:…`; an approval applies only to this hash.",
    arguments:
      'Arguments that the caller chose to show for conditions and to the approver; an approval applies only to them. None are shown if omitted.',
    origins:
      "Sources of the arguments' values for conditions and the approver, by argument path such as `address.city`; an approval does not depend on them. A condition that reads them cannot be evaluated if they are omitted.",
    acceptsChanges:
      '`true` if the caller can run the action with arguments that the approver changed; `false` if omitted.',
    changedFrom:
      'Hash of the requested arguments, if an approver changed them and this is the changed action, under the same `actionId`; none if omitted.',
  },
  ArgumentOrigin: {
    from: "Source of the value: `user` (what the user said), `system` (the system prompt), `tool` (the result of an earlier call), `model` (none of these, so the model wrote it), `approver` (the approver changed it), or `unknown` (older text is no longer in the recorder's memory).",
    as: "Form of the value in the tool's result: `field` for a whole field, `text` for a part of running text. Only with `from: 'tool'`.",
    toolName: "Tool of the earlier call. Only with `from: 'tool'`.",
    eventId: "Event of the earlier call. Only with `from: 'tool'`.",
  },
  CheckResult: {
    decision: 'Decision about the action; on `require_approval` the caller waits and repeats the check.',
    decidedBy:
      "Id of the policy that decided, or of the approver's key; `agent_revoked` for a revoked agent; null if no policy matched.",
    matched: 'Every policy that applies, in order of precedence; empty if there are none.',
    pendingActionId:
      'Id of the pending action that was created for this check; null if the action was not held.',
    comment: 'Comment of the approver on the pending action; null for none.',
    changedArguments:
      'Values of arguments that the approver changed, by path. The decision is then `deny` for the requested arguments: run the changed ones after a check with `changedFrom`. Null for none.',
    grantId: "Id of the approver's grant that allowed the action without a new approval; null for none.",
    expiresAt: 'Time at which the approval request expires; null if the action was not held.',
  },
  PolicyMatched: {
    policyId: 'Id of the policy, or `agent_revoked`.',
    policyName: 'Name of the policy.',
    effect: 'Effect of the policy on the action.',
    mode: '`log_only` policies are listed but do not affect the decision.',
    why: 'Reason why it applies, in plain words, such as `the tool matches "refund*"`.',
    message: 'Message of the policy to the caller; null for none.',
  },
  'guardian.pendingActions.list': {
    limit: 'Maximum number of results, from 1 to 200; 50 by default.',
    cursor:
      'Opaque: the `nextCursor` of the previous page, with all other parameters unchanged; omitted for the first page.',
    status: 'Only actions with this status; `pending` by default.',
    agentId: 'Only actions of this agent.',
    sessionId: 'Only actions of this session.',
  },
  PendingActionPage: {
    items: 'The results, newest first.',
    nextCursor: 'Opaque cursor of the next page; null if there are no more results.',
  },
  PendingAction: {
    id: 'Permanent identifier; a check returns it as `pendingActionId`.',
    status:
      "`expired` if no decision was made in time, `withdrawn` if a person has decided at the agent's own prompt; every status but `pending` is final.",
    agentId: 'The agent whose action is held.',
    sessionId: 'Session of the action; null if the check named none.',
    policyId: 'The policy that holds the action.',
    policyName: 'Name of the policy when it held the action.',
    action: 'Action that the agent is about to take.',
    reason: 'Reason for holding it: the message of the policy, or else why the policy applies.',
    createdAt: 'Time at which the action was held.',
    expiresAt: 'Time at which the action expires without a decision.',
    onTimeout: 'Decision that the agent receives if nobody decides in time.',
    singleUse: '`true` if the approval is for one call, as the policy stated when the action was held.',
    usedAt:
      'Time at which a call used the approval; null if unused or if the approval is not limited to one call.',
    requestedBy: 'Id of the API key that sent the check. Null for actions held by an earlier version.',
    principal: 'Person or system on whose behalf the agent acts, as the check stated; null for none.',
    subagent: "Name of the agent's subagent that acts, as the check stated; null for none.",
    parentAgentIds: 'Agents that the agent runs inside, nearest first; empty for none.',
    identity: 'Verified identity of the caller of the check; null if it sent no token.',
    traceparent: 'W3C `traceparent` of the call that was checked; null if its check named none.',
    approvals: 'Approvals that the action needs, and those that it has.',
    grantId: 'Id of the grant that the approval created for later actions; null for none.',
    editable: 'Arguments that the approver may change, with their limits; empty for none.',
    changedArguments:
      'Values of arguments that the approver changed, by path; the approval holds for them. Null for the requested arguments.',
    executedHash:
      'Hash of the changed arguments that the agent ran; null if it has not run them, or none were changed.',
    decision: 'Decision of the approver; null if there is none, also while further approvals are needed.',
  },
  HeldAction: {
    toolName: 'Name of the tool that is about to be called.',
    argumentsHash: "Hash of the call's arguments, such as `sha256:…`; an approval applies only to this hash.",
    arguments:
      'Arguments that the caller chose to show for conditions and to the approver; an approval applies only to them. None are shown if omitted.',
    argumentsJson:
      'Arguments as JSON text; only if they have whole numbers beyond 2^53, which most parsers round.',
    origins:
      "Sources of the arguments' values at the first check, by argument path such as `address.city`; missing if that check had none.",
    acceptsChanges: '`true` if the caller can run the action with arguments that the approver changed.',
  },
  StoredArgumentOrigin: {
    from: "Source of the value: `user` (what the user said), `system` (the system prompt), `tool` (the result of an earlier call), `model` (none of these, so the model wrote it), `approver` (the approver changed it), or `unknown` (older text is no longer in the recorder's memory).",
    as: "Form of the value in the tool's result: `field` for a whole field, `text` for a part of running text. Only with `from: 'tool'`.",
    toolName: "Tool of the earlier call. Only with `from: 'tool'`.",
    eventId: "Event of the earlier call. Only with `from: 'tool'`.",
  },
  Approvals: {
    required:
      'Number of approvers who must approve; the last one completes the approval. A single denial is enough to deny.',
    approverKeys: 'Ids of the keys that may approve; null for every key with the scope `decide`.',
    approverGroups: 'Groups whose people may approve; null for everyone who may decide.',
    notRequester:
      '`true` if the requester cannot approve: neither the key that sent the check, nor the same principal.',
    verifiedPrincipal: '`true` if nobody can approve the action unless its principal is verified.',
    given: 'Approvals so far, oldest first; each approver counts once.',
  },
  GivenApproval: {
    approvedBy: 'Id of the approver: an API key (`key_…`), or a person who is signed in (`usr_…`).',
    principal: 'The approver, where the deployment knows the person; null otherwise.',
    comment: 'Comment of the approver; null for none.',
    approvedAt: 'Time of the approval.',
    grant: 'Choice for later actions, which applies if every approver makes one; null for this action only.',
  },
  GivenGrant: {
    for: '`action` for the same action: the same tool, arguments hash and shown arguments; `tool` for any call of the same tool that the same policies hold. Both only for the same agent in the same session.',
    durationSeconds: 'Time for which the grant is valid, in seconds; at most one day, 3,600 by default.',
    maxUses: 'Number of actions that the grant lets run; not limited by default.',
  },
  Decision: {
    decision: '`approve` if the action may run, else `deny`.',
    comment: 'Comment of the approver; null for none.',
    decidedBy: 'Id of the approver: an API key (`key_…`), or a person who is signed in (`usr_…`).',
    principal: 'The approver, where the deployment knows the person; null otherwise.',
    decidedAt: 'Time of the decision.',
  },
  'guardian.pendingActions.decide': {
    id: 'Id of the pending action, from the list or from the check that held it.',
  },
  Decide: {
    decision: '`approve` lets the action run once enough approvers have approved, `deny` does not; final.',
    comment:
      'Comment that is passed to the agent, so write it for the model, at most 2,000 characters; none if omitted.',
    grant:
      'Lets later actions of the same session run without another approval, with `approve` only; only this action if omitted.',
    changedArguments:
      'Changed values of shown arguments, by path such as `amount` or `address.city`, with `approve` only and within `editable` of the action; the requested arguments if omitted or empty.',
  },
  GrantChoice: {
    for: '`action` for the same action: the same tool, arguments hash and shown arguments; `tool` for any call of the same tool that the same policies hold. Both only for the same agent in the same session.',
    durationSeconds: 'Time for which the grant is valid, in seconds; at most one day, 3,600 by default.',
    maxUses: 'Number of actions that the grant lets run; not limited by default.',
  },
  NotificationChannelCreate: {
    kind: 'Kind of channel; `webhook` is the only one, and the default.',
    url: 'URL to deliver to: absolute `http` or `https`, on the public network, without user name or password.',
    events: 'Types of event to deliver; all types if omitted.',
  },
  NotificationChannelCreated: {
    id: 'Permanent identifier.',
    kind: 'Kind of channel; `webhook` is the only one.',
    url: 'URL that deliveries are sent to.',
    events: 'Types of event to deliver.',
    status: '`disabled` channels receive nothing: the receiver returned 410, or accepted nothing for days.',
    createdAt: 'Time at which the webhook was created.',
    lastDeliveryAt: 'Time at which a delivery was last accepted; null before the first.',
    failureCount: 'Failed attempts since a delivery was last accepted.',
    secret:
      'Secret that signs the deliveries (`whsec_…`, Standard Webhooks); returned only once, so store it.',
  },
  'notificationChannels.list': {
    limit: 'Maximum number of results, from 1 to 200; 50 by default.',
    cursor:
      'Opaque: the `nextCursor` of the previous page, with all other parameters unchanged; omitted for the first page.',
  },
  NotificationChannelPage: {
    items: 'The results, newest first.',
    nextCursor: 'Opaque cursor of the next page; null if there are no more results.',
  },
  NotificationChannel: {
    id: 'Permanent identifier.',
    kind: 'Kind of channel; `webhook` is the only one.',
    url: 'URL that deliveries are sent to.',
    events: 'Types of event to deliver.',
    status: '`disabled` channels receive nothing: the receiver returned 410, or accepted nothing for days.',
    createdAt: 'Time at which the webhook was created.',
    lastDeliveryAt: 'Time at which a delivery was last accepted; null before the first.',
    failureCount: 'Failed attempts since a delivery was last accepted.',
  },
  SessionRiskRaisedMessage: {
    type: 'Type of the delivery.',
    timestamp: 'Time of the occurrence, not of the delivery.',
    data: 'Data of the delivery, by type.',
  },
  RaisedRisk: {
    sessionId: 'The session whose risk rose.',
    agentId: 'The agent that opened the session.',
    score: 'The new score, 0 to 100.',
    level: 'The new level, higher than the previous one.',
    previousLevel: 'Previous level; null if the session was not scored before.',
  },
  PolicyMatchedMessage: {
    type: 'Type of the delivery.',
    timestamp: 'Time of the occurrence, not of the delivery.',
    data: 'Data of the delivery, by type.',
  },
  MatchedAction: {
    agentId: 'The agent that is about to act.',
    sessionId: 'Session of the action; null if the check named none.',
    toolName: 'Name of the tool that is about to be called.',
    decision: 'Combined decision of the policies.',
    policies: 'Policies that matched, in order of precedence; at most 100.',
    morePolicies: 'Number of matching policies beyond those in `policies`; 0 for up to 100.',
  },
  ReportedPolicy: {
    policyId: 'Id of the policy that matched, or `agent_revoked`.',
    policyName: 'Name of the policy.',
    effect: 'Effect of the policy; another policy may take precedence.',
    mode: '`log_only` policies do not affect the decision.',
  },
  GuardianActionPendingMessage: {
    type: 'Type of the delivery.',
    timestamp: 'Time of the occurrence, not of the delivery.',
    data: 'Data of the delivery, by type.',
  },
  GuardianActionDecidedMessage: {
    type: 'Type of the delivery.',
    timestamp: 'Time of the occurrence, not of the delivery.',
    data: 'Data of the delivery, by type.',
  },
};
