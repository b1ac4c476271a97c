// Starts `anabranch lsp` and connects the editor with it.
const { workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

exports.activate = () => {
  const command = workspace.getConfiguration("anabranch").get("path", "anabranch");
  client = new LanguageClient(
    "anabranch",
    "Anabranch",
    { command, args: ["lsp"] },
    { documentSelector: [{ scheme: "file", language: "emam" }, { scheme: "file", language: "emam-stream" }] },
  );
  return client.start();
};

exports.deactivate = () => client?.stop();
