/** Agent of an action with its subagent, and with the agents that it runs inside. */
export function ActingAgent({
  agentId,
  subagent,
  parentAgentIds = [],
}: {
  agentId: string | undefined;
  subagent?: unknown;
  parentAgentIds?: unknown;
}) {
  const above = Array.isArray(parentAgentIds) ? parentAgentIds.filter((id) => typeof id === 'string') : [];
  return (
    <bdi class="whole" translate={false}>
      {agentId}
      {typeof subagent === 'string' && ` · ${subagent}`}
      {above.length > 0 && <span class="faint"> in {above.join(', ')}</span>}
    </bdi>
  );
}
