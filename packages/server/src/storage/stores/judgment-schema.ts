import type { RiskJudgmentKind } from '@actlog/protocol';

/** A judgment of a person about what raises the risk of sessions. Parts of the scope that are `null` match any. */
export interface RiskJudgmentTable {
  tenant_id: number;
  id: string;
  kind: RiskJudgmentKind;
  session_id: string | null;
  agent_id: string | null;
  tool_name: string | null;
  rule_id: string | null;
  /** Actions of the one session that it is about, when it was judged; `null` for other judgments. */
  actions: number | null;
  reason: string;
  created_ms: number;
  /** Key or person that saved it. */
  created_by: string;
  created_principal: string | null;
  /** It applies to sessions whose newest event was received from this time on, … */
  from_ms: number;
  /** … and before this one: the earlier of its end dates, or `endOfTime`. */
  until_ms: number;
  expires_ms: number | null;
  ended_ms: number | null;
  ended_by: string | null;
  ended_principal: string | null;
}

/** A session that a person handled. */
export interface HandledSessionTable {
  tenant_id: number;
  session_id: string;
  /** Whole score at that time. A higher one opens the session again. */
  score: number;
  reason: string;
  handled_ms: number;
  /** Key or person that handled it. */
  handled_by: string;
  handled_principal: string | null;
}
