export default { dead: "#182028", living: ["#7fd1b9", "#6fb7d6", "#c6a9e8", "#f0c987"] };
