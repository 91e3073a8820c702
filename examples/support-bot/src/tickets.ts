import { AIMessage, type BaseMessage } from '@langchain/core/messages';
import { fakeModel } from '@langchain/core/testing';

/** A customer's request. */
export interface Ticket {
  readonly id: string;
  readonly orderId: string;
  /** Euros to refund. */
  readonly amount: number;
  readonly question: string;
}

/** Tickets that the bot completes itself, that the desk approves, and that the desk denies. */
export const tickets: readonly Ticket[] = [
  { id: 'ticket-51', orderId: 'A-1001', amount: 20, question: 'The lamp of order A-1001 has a scratch.' },
  { id: 'ticket-52', orderId: 'A-1002', amount: 310, question: 'Order A-1002 never arrived.' },
  { id: 'ticket-53', orderId: 'A-1003', amount: 900, question: 'I want my money back for order A-1003.' },
];

/** Creates a model that plays a ticket, for a real agent. It needs no key and no network. */
export function scriptedModel({ orderId, amount }: Ticket) {
  return fakeModel()
    .respondWithTools([{ name: 'get_order', args: { orderId } }])
    .respondWithTools([{ name: 'refund_order', args: { orderId, amount } }])
    .respond((messages: BaseMessage[]) => {
      const isRefunded = messages.at(-1)?.text.includes('on their way');
      return new AIMessage(
        isRefunded ? `We have paid you ${amount} euros back.` : 'I am sorry: we cannot refund this order.',
      );
    });
}

/** Formats a line of a conversation. */
export function inWords(message: BaseMessage): string {
  const calls = AIMessage.isInstance(message) ? (message.tool_calls ?? []) : [];
  const said = calls.map(({ name, args }) => `${name}(${Object.values(args).join(', ')})`).join(', ');
  return `  ${message.type.padEnd(6)} ${said || message.text}`;
}
