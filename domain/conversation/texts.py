"""Every fixed text that a lead or an operator reads. Brazilian Portuguese first, and English."""

from typing import Final

from domain.conversation.policy import Language

_TEXTS: Final[dict[str, dict[Language, str]]] = {
    "text_only": {
        "pt-BR": "Por enquanto só consigo ler mensagens de texto. Pode escrever o que precisa?",
        "en": "For now I can only read text messages. Could you write what you need?",
    },
    "waiting": {
        "pt-BR": "Recebi sua mensagem. Você está na fila e uma pessoa da equipe vai responder por aqui.",
        "en": "I have your message. You are in the queue and a person of our team will answer here.",
    },
    "still_waiting": {
        "pt-BR": "Você continua na fila. Uma pessoa da equipe vai responder assim que puder.",
        "en": "You are still in the queue. A person of our team will answer as soon as possible.",
    },
    "no_agent": {
        "pt-BR": "Não consigo responder isso sozinho. Passei sua mensagem para a fila da equipe,"
        " e uma pessoa vai responder por aqui.",
        "en": "I cannot answer this on my own. I put your message into our team's queue, and a"
        " person will answer here.",
    },
    "opted_out": {
        "pt-BR": "Certo, não vamos mais enviar novidades. Se quiser voltar a receber, escreva VOLTAR.",
        "en": "All right, no more news from us. Write START to receive them again.",
    },
    "opted_in": {
        "pt-BR": "Certo, você voltará a receber novidades. Para parar, escreva PARAR.",
        "en": "All right, you will receive news again. Write STOP to end them.",
    },
    "debug_closed": {
        "pt-BR": "Conversa encerrada para depuração.",
        "en": "Conversation closed for debugging.",
    },
    "operator_help": {
        "pt-BR": "Comandos: /disponivel (receber avisos hoje), /indisponivel (parar), /fila (quem espera),"
        " /ajuda.",
        "en": "Commands: /disponivel (get notices today), /indisponivel (stop), /fila (who waits),"
        " /ajuda (this help).",
    },
    "operator_available": {
        "pt-BR": "Você está disponível até o fim do dia e será avisado quando alguém esperar.",
        "en": "You are available until the end of the day and will be told when somebody waits.",
    },
    "operator_unavailable": {
        "pt-BR": "Você não receberá mais avisos.",
        "en": "You will get no more notices.",
    },
    "queue_empty": {"pt-BR": "Ninguém espera na fila.", "en": "Nobody waits in the queue."},
    "queue_waiting": {
        "pt-BR": "Na fila: {count}. O mais antigo espera há {minutes} min.",
        "en": "In the queue: {count}. The oldest has waited {minutes} min.",
    },
    "operator_alert": {
        "pt-BR": "Uma conversa espera atendimento há {minutes} min. Motivo: {reason}.",
        "en": "A conversation has waited for a human for {minutes} min. Reason: {reason}.",
    },
}

NAMES: Final = tuple(_TEXTS)
"""Every text there is."""


def text(name: str, language: Language, **values: object) -> str:
    """Return a fixed text in the language of the deployment."""
    return _TEXTS[name][language].format(**values)
