import { actlog } from '@actlog/langchain';
import type { Recorder } from '@actlog/recorder';
import type { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { createAgent, tool } from 'langchain';
import * as z from 'zod';

/** Data of the shop. */
export interface Shop {
  /** Euros paid, by order. */
  readonly orders: ReadonlyMap<string, number>;
  /** Euros refunded, by order. */
  readonly refunds: Map<string, number>;
}

/** A bot that looks up orders and makes refunds. It does not know which refunds need approval. */
export function supportBot(model: BaseChatModel, shop: Shop, recorder: Recorder) {
  const getOrder = tool(
    ({ orderId }) => {
      const paid = shop.orders.get(orderId);
      return paid === undefined ? `There is no order ${orderId}.` : `${orderId}: ${paid} euros were paid.`;
    },
    {
      name: 'get_order',
      description: 'Look an order up.',
      schema: z.object({ orderId: z.string() }),
    },
  );
  const refundOrder = tool(
    ({ orderId, amount }) => {
      shop.refunds.set(orderId, amount);
      return `${amount} euros are on their way.`;
    },
    {
      name: 'refund_order',
      description: 'Pay money back.',
      schema: z.object({ orderId: z.string(), amount: z.number().positive() }),
    },
  );
  return createAgent({ model, tools: [getOrder, refundOrder], middleware: [actlog({ recorder })] });
}

/** Returns the arguments that the service may see: amount and order, never the customer's text. */
export function shownArguments(args: unknown, toolName: string): Record<string, unknown> {
  if (toolName !== 'refund_order') return {};
  const { orderId, amount } = args as { orderId?: string; amount?: number };
  return { orderId, amount };
}
