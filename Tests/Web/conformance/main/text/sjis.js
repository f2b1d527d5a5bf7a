window.sjis = "Œê";
