import type { Rule } from './rule.ts';
import { cascadeFailingOn } from './rules/cascade-failing-on.ts';
import { cascadeFailureSpread } from './rules/cascade-failure-spread.ts';
import { cascadeSameIntent } from './rules/cascade-same-intent.ts';
import { executionAfterUntrusted } from './rules/execution-after-untrusted.ts';
import { executionFetchThenRun } from './rules/execution-fetch-then-run.ts';
import { executionFirstTime } from './rules/execution-first-time.ts';
import { executionForeignCode } from './rules/execution-foreign-code.ts';
import { executionForeignFile } from './rules/execution-foreign-file.ts';
import { executionForeignHost } from './rules/execution-foreign-host.ts';
import { goalActionAfterUntrusted } from './rules/goal-action-after-untrusted.ts';
import { goalDetour } from './rules/goal-detour.ts';
import { goalFollowsLink } from './rules/goal-follows-link.ts';
import { goalForeignArguments } from './rules/goal-foreign-arguments.ts';
import { goalForeignDetour } from './rules/goal-foreign-detour.ts';
import { goalNewAction } from './rules/goal-new-action.ts';
import { goalNewReading } from './rules/goal-new-reading.ts';
import { goalPartlyForeign } from './rules/goal-partly-foreign.ts';
import { goalRedirected } from './rules/goal-redirected.ts';
import { goalScatteredActions } from './rules/goal-scattered-actions.ts';
import { goalUnreadObject } from './rules/goal-unread-object.ts';
import { memoryFlooded } from './rules/memory-flooded.ts';
import { memoryReadThenAct } from './rules/memory-read-then-act.ts';
import { memoryWrittenAfterUntrusted } from './rules/memory-written-after-untrusted.ts';
import { messageClockAhead } from './rules/message-clock-ahead.ts';
import { messageFanOut } from './rules/message-fan-out.ts';
import { messageReplayed } from './rules/message-replayed.ts';
import { messageStranger } from './rules/message-stranger.ts';
import { messageVersionDowngrade } from './rules/message-version-downgrade.ts';
import { misuseDeleteAfterUntrusted } from './rules/misuse-delete-after-untrusted.ts';
import { misuseIrreversibleAfterUntrusted } from './rules/misuse-irreversible-after-untrusted.ts';
import { misuseLeakedByLink } from './rules/misuse-leaked-by-link.ts';
import { misuseLongerThanUsual } from './rules/misuse-longer-than-usual.ts';
import { misuseLossBurst } from './rules/misuse-loss-burst.ts';
import { misuseMixedActions } from './rules/misuse-mixed-actions.ts';
import { misuseMoreThanUsual } from './rules/misuse-more-than-usual.ts';
import { misusePrivateContentSent } from './rules/misuse-private-content-sent.ts';
import { misusePrivateThenExternal } from './rules/misuse-private-then-external.ts';
import { misusePublishAfterUntrusted } from './rules/misuse-publish-after-untrusted.ts';
import { misuseSameCallAgain } from './rules/misuse-same-call-again.ts';
import { misuseSentFromWorkspace } from './rules/misuse-sent-from-workspace.ts';
import { misuseSeveralOutlets } from './rules/misuse-several-outlets.ts';
import { misuseSweepThenSend } from './rules/misuse-sweep-then-send.ts';
import { privilegeAgentElsewhere } from './rules/privilege-agent-elsewhere.ts';
import { privilegeFailedReach } from './rules/privilege-failed-reach.ts';
import { privilegeFirstUse } from './rules/privilege-first-use.ts';
import { privilegeProbing } from './rules/privilege-probing.ts';
import { privilegeRefusedThenGranted } from './rules/privilege-refused-then-granted.ts';
import { privilegeSecretAfterUntrusted } from './rules/privilege-secret-after-untrusted.ts';
import { privilegeSecretPassedOn } from './rules/privilege-secret-passed-on.ts';
import { rogueDeniedAgain } from './rules/rogue-denied-again.ts';
import { rogueDeniedThenDone } from './rules/rogue-denied-then-done.ts';
import { rogueDrift } from './rules/rogue-drift.ts';
import { rogueOffHours } from './rules/rogue-off-hours.ts';
import { rogueRevokedAgent } from './rules/rogue-revoked-agent.ts';
import { rogueSubstituted } from './rules/rogue-substituted.ts';
import { supplyConfusableTool } from './rules/supply-confusable-tool.ts';
import { supplyLookalikeTool } from './rules/supply-lookalike-tool.ts';
import { supplyNewTool } from './rules/supply-new-tool.ts';
import { supplyShadowedTool } from './rules/supply-shadowed-tool.ts';
import { trustAlwaysApproved } from './rules/trust-always-approved.ts';
import { trustApprovalBurst } from './rules/trust-approval-burst.ts';
import { trustDenialOverturned } from './rules/trust-denial-overturned.ts';
import { trustFastApprovals } from './rules/trust-fast-approvals.ts';
import { trustFlood } from './rules/trust-flood.ts';

/** All rules, ordered by dimension. */
export const allRules: readonly Rule[] = [
  goalActionAfterUntrusted,
  goalDetour,
  goalFollowsLink,
  goalForeignArguments,
  goalForeignDetour,
  goalNewAction,
  goalNewReading,
  goalPartlyForeign,
  goalRedirected,
  goalScatteredActions,
  goalUnreadObject,
  misuseDeleteAfterUntrusted,
  misuseIrreversibleAfterUntrusted,
  misuseLeakedByLink,
  misuseLongerThanUsual,
  misuseLossBurst,
  misuseMixedActions,
  misuseMoreThanUsual,
  misusePrivateContentSent,
  misusePrivateThenExternal,
  misusePublishAfterUntrusted,
  misuseSameCallAgain,
  misuseSentFromWorkspace,
  misuseSeveralOutlets,
  misuseSweepThenSend,
  privilegeAgentElsewhere,
  privilegeFailedReach,
  privilegeFirstUse,
  privilegeProbing,
  privilegeRefusedThenGranted,
  privilegeSecretAfterUntrusted,
  privilegeSecretPassedOn,
  supplyConfusableTool,
  supplyLookalikeTool,
  supplyNewTool,
  supplyShadowedTool,
  executionAfterUntrusted,
  executionFetchThenRun,
  executionFirstTime,
  executionForeignCode,
  executionForeignFile,
  executionForeignHost,
  memoryFlooded,
  memoryReadThenAct,
  memoryWrittenAfterUntrusted,
  messageClockAhead,
  messageFanOut,
  messageReplayed,
  messageStranger,
  messageVersionDowngrade,
  cascadeFailingOn,
  cascadeFailureSpread,
  cascadeSameIntent,
  trustAlwaysApproved,
  trustApprovalBurst,
  trustDenialOverturned,
  trustFastApprovals,
  trustFlood,
  rogueDeniedAgain,
  rogueDeniedThenDone,
  rogueDrift,
  rogueOffHours,
  rogueRevokedAgent,
  rogueSubstituted,
];
