// Loaded before the terminal: gives it the keyboard when it is there, notices whether the viewer has unsaved
// changes, asks before they are lost, and opens a new viewer on request.
(() => {
  let unsaved = false;
  const Connection = window.WebSocket;
  window.WebSocket = class extends Connection {
    constructor(...given) {
      super(...given);
      this.addEventListener("message", (message) => {
        if (typeof message.data !== "string") return;
        const [kind, value] = JSON.parse(message.data);
        if (kind === "draft") unsaved = value;
      });
      this.addEventListener("close", () => {
        unsaved = false;
        document.body.classList.add("-closed");
      });
    }
  };
  window.addEventListener("beforeunload", (leaving) => {
    if (unsaved) leaving.preventDefault();
  });
  window.addEventListener("DOMContentLoaded", () => {
    new MutationObserver((_, observer) => {
      const keyboard = document.querySelector(".xterm-helper-textarea");
      if (!keyboard) return;
      keyboard.focus();
      observer.disconnect();
    }).observe(document.body, { childList: true, subtree: true });
    document.getElementById("again").addEventListener("click", () => window.location.reload());
  });
})();
